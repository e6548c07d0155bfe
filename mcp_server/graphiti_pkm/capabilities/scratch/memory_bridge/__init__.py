"""From memory into a scratch graph and back, never by itself. Everything is written by one call of ``remember``."""
