"""GOV.UK's architecture decisions as a model would tell them: facts by hand for the ones that change something.

Bodies and dates come from ``../shared/data/architecture-decisions``; only what a calling assistant would add stands
here. Keys are the numbers in the file names. Statuses are the ones written in the documents.
"""

from typing import Any

ParsedRequest = dict[str, Any]


def _status(number: int, value: str, **more: object) -> ParsedRequest:
    return {
        "source": f"ADR {number}",
        "relation": "HAS_STATUS",
        "value": value,
        "fact": f"ADR {number} is {value}",
        **more,
    }


def _decision(number: int, summary: str) -> ParsedRequest:
    return {"name": f"ADR {number}", "type": "Decision", "summary": summary}


TOLD: dict[str, dict[str, list[ParsedRequest]]] = {
    "0003": {
        "entities": [_decision(3, "AWS networking outline"), {"name": "GOV.UK VPCs", "type": "Network"}],
        "facts": [
            _status(3, "accepted"),
            {
                "source": "GOV.UK VPCs",
                "relation": "HAS_ADDRESS_PLAN",
                "target": "address plan of ADR 3",
                "fact": "The VPCs use the address plan of ADR 3",
            },
        ],
    },
    "0004": {
        "entities": [_decision(4, "DNS definitions for hosts and services")],
        "facts": [_status(4, "accepted")],
    },
    "0006": {
        "entities": [_decision(6, "Puppet architecture")],
        "facts": [_status(6, "pending")],
    },
    "0010": {
        "entities": [_decision(10, "Terraform directory structure"), {"name": "Terraform data", "type": "Data"}],
        "facts": [
            _status(10, "accepted"),
            {
                "source": "Terraform data",
                "relation": "LAID_OUT_BY",
                "target": "one directory per project",
                "fact": "Terraform data has one subdirectory per Terraform project",
                "quote": "The data directory contains a subdirectory per Terraform project",
            },
        ],
    },
    "0015": {
        "entities": [_decision(15, "DNS infrastructure")],
        "facts": [
            _status(15, "accepted"),
            {"source": "ADR 15", "relation": "SUPERSEDES", "target": "ADR 4", "fact": "ADR 15 supersedes ADR 4"},
            _status(4, "superseded", replaces="accepted"),
        ],
    },
    "0017": {
        "entities": [_decision(17, "Terraform data structure")],
        "facts": [
            _status(17, "accepted"),
            {"source": "ADR 17", "relation": "REFINES", "target": "ADR 10", "fact": "ADR 17 amends ADR 10"},
            {
                "source": "Terraform data",
                "relation": "LAID_OUT_BY",
                "target": "common, project and stack",
                "fact": "Terraform data is laid out by common values, project, environment and stack",
                "replaces": "one directory per project",
                "quote": "The data portion of ADR 0010 will now be:",
            },
        ],
    },
    "0018": {
        "entities": [
            _decision(18, "Use RDS instead of provisioned databases"),
            {"name": "GOV.UK databases", "type": "Component"},
            {"name": "RDS", "type": "Technology", "aliases": ["Relational Database Service"]},
        ],
        "facts": [
            _status(18, "accepted"),
            {
                "source": "GOV.UK databases",
                "relation": "RUNS_ON",
                "target": "RDS",
                "fact": "MySQL and PostgreSQL run on RDS",
                "replaces": "VM instances managed with Puppet",
                "quote": "We are going to use RDS to remove a significant portion of our Puppet code",
            },
        ],
    },
    "0019": {
        "entities": [_decision(19, "Centralise MySQL databases"), {"name": "MySQL databases", "type": "Component"}],
        "facts": [
            _status(19, "accepted"),
            {
                "source": "MySQL databases",
                "relation": "RUNS_ON",
                "target": "single RDS instance",
                "fact": "The MySQL databases are centralised in a single RDS instance",
                "quote": "in to a single RDS instance",
            },
            {
                "source": "signon",
                "relation": "USES",
                "target": "PostgreSQL",
                "kind": "plan",
                "fact": "The signon database will be converted to PostgreSQL after the lift and shift",
            },
        ],
    },
    "0023": {
        "entities": [_decision(23, "Use a separate data repository")],
        "facts": [
            _status(23, "accepted"),
            {
                "source": "Terraform data",
                "relation": "STORED_IN",
                "target": "private data repository",
                "fact": "Terraform data is split out into its own private repository",
                "quote": "will be split out into its own repository that will be kept private",
            },
        ],
    },
    "0025": {
        "entities": [_decision(25, "Use Elasticache for Redis"), {"name": "Elasticache", "type": "Technology"}],
        "facts": [
            _status(25, "accepted"),
            {
                "source": "Redis",
                "relation": "RUNS_ON",
                "target": "Elasticache",
                "fact": "Redis runs on Elasticache",
                "replaces": "own Redis instances",
                "quote": "We are using Elasticache instead of provisioning our own Redis instances.",
            },
        ],
    },
    "0028": {
        "entities": [_decision(28, "Combine api-mongo into mongo"), {"name": "Content Store", "type": "Application"}],
        "facts": [
            _status(28, "accepted"),
            {
                "source": "Content Store",
                "relation": "READS_FROM",
                "target": "mongo cluster",
                "fact": "Content Store reads from the application mongo cluster",
                "replaces": "api-mongo cluster",
                "quote": "We are going to remove the api-mongo cluster",
            },
        ],
    },
    "0029": {
        "entities": [
            _decision(29, "Combine api-redis into backend-redis"),
            {"name": "Rummager", "type": "Application"},
        ],
        "facts": [
            _status(29, "accepted"),
            {
                "source": "Rummager",
                "relation": "USES",
                "target": "backend-redis",
                "fact": "Rummager uses backend-redis",
                "replaces": "api-redis",
                "quote": "Update Rummager configuration so it uses backend-redis, and remove api-redis.",
            },
        ],
    },
    "0033": {
        "entities": [_decision(33, "IP ranges")],
        "facts": [
            _status(33, "pending"),
            _status(3, "partly superseded", replaces="accepted"),
            {
                "source": "GOV.UK VPCs",
                "relation": "HAS_ADDRESS_PLAN",
                "target": "address plan of ADR 33",
                "fact": "The VPCs use the address plan of ADR 33",
                "replaces": "current",
            },
        ],
    },
    "0036": {
        "entities": [_decision(36, "Performance platform and backdrop architecture")],
        "facts": [_status(36, "proposed")],
    },
    "0038": {
        "entities": [_decision(38, "Mongo replaced by DocumentDB"), {"name": "DocumentDB", "type": "Technology"}],
        "facts": [
            _status(38, "approved"),
            {
                "source": "Content Store",
                "relation": "READS_FROM",
                "target": "DocumentDB",
                "kind": "plan",
                "fact": "Content Store will read from DocumentDB",
            },
        ],
    },
}
