"""A coaching conversation of eight messages, each told with one add_memory call and no search before it."""

from typing import Any

MESSAGES: list[dict[str, Any]] = [
    {
        "reference_time": "2026-03-02T18:00:00+00:00",
        "episode_body": "I work at Larkfield, my manager is Priya. Project Heron is due on 30 April. Slept 6.5.",
        "entities": [{"name": "Priya", "type": "Person"}, {"name": "Heron", "type": "Project"}],
        "facts": [
            {"source": "me", "relation": "WORKS_AT", "target": "Larkfield", "fact": "I work at Larkfield"},
            {"source": "me", "relation": "REPORTS_TO", "target": "Priya", "fact": "I report to Priya"},
            {
                "source": "Heron",
                "relation": "HAS_DEADLINE",
                "value": "2026-04-30",
                "fact": "Heron is due on 30 April 2026",
                "quote": "Project Heron is due on 30 April",
            },
            {
                "source": "me",
                "relation": "SLEEPS",
                "kind": "reading",
                "measure": "sleep",
                "value": 6.5,
                "unit": "hours",
            },
        ],
    },
    {
        "reference_time": "2026-03-09T18:00:00+00:00",
        "episode_body": "A rough week. Four to five hours of sleep, stress at 7 out of 10.",
        "facts": [
            {
                "source": "me",
                "relation": "SLEEPS",
                "kind": "reading",
                "measure": "Sleep",
                "value": "4-5",
                "unit": "hours",
            },
            {"source": "me", "relation": "FEELS", "kind": "reading", "measure": "stress", "value": "7/10"},
        ],
    },
    {
        "reference_time": "2026-03-16T18:00:00+00:00",
        "episode_body": "Heron moved: the new date is 29 May.",
        "facts": [
            {
                "source": "Heron",
                "relation": "HAS_DEADLINE",
                "value": "2026-05-29",
                "fact": "Heron is due on 29 May 2026",
                "replaces": "current",
            }
        ],
    },
    {
        "reference_time": "2026-03-23T18:00:00+00:00",
        "episode_body": "I said my manager is Priya, an old chart: it was Ines all along, Henrik's deputy.",
        "facts": [
            {
                "source": "I",
                "relation": "REPORTS_TO",
                "target": "Ines",
                "fact": "I report to Ines",
                "replaces": "Priya",
                "change": "corrected",
            }
        ],
    },
    {
        "reference_time": "2026-03-30T18:00:00+00:00",
        "episode_body": "From 1 May I will report to Henrik.",
        "facts": [
            {
                "source": "me",
                "relation": "REPORTS_TO",
                "target": "Henrik",
                "kind": "plan",
                "valid_at": "2026-05-01",
                "fact": "I will report to Henrik",
            }
        ],
    },
    {
        "reference_time": "2026-04-20T18:00:00+00:00",
        "episode_body": "Slept 7 hours every night. Heron's rehearsal worked.",
        "facts": [
            {"source": "the user", "relation": "SLEEPS", "kind": "reading", "measure": "sleep", "value": 7},
            {"source": "Heron", "relation": "REHEARSED", "kind": "event", "fact": "The rehearsal of Heron worked"},
        ],
    },
    {
        "reference_time": "2026-05-04T18:00:00+00:00",
        "episode_body": "Henrik is my manager since the first of May.",
        "facts": [
            {
                "source": "me",
                "relation": "REPORTS_TO",
                "target": "Henrik",
                "valid_at": "2026-05-01",
                "fact": "I report to Henrik",
                "replaces": "current",
            }
        ],
    },
    {
        "reference_time": "2026-06-01T18:00:00+00:00",
        "episode_body": "Heron is live. Eight hours of sleep, stress down to 3 out of 10.",
        "facts": [
            {"source": "Heron", "relation": "HAS_STATUS", "value": "done", "fact": "Heron is live"},
            {"source": "me", "relation": "SLEEPS", "kind": "reading", "measure": "sleep", "value": 8, "unit": "hours"},
            {"source": "me", "relation": "FEELS", "kind": "reading", "measure": "stress", "value": "3/10"},
        ],
    },
]
