"""The FalkorDB that a data directory brings with it: process, watchdog, repair. Queries stand in ``queries``."""
