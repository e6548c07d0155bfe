"""Values: records, queries, answers, times, names. Nothing here asks a port."""
