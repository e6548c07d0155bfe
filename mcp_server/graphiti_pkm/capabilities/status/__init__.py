"""Says whether the memory works, what it holds, and what an operator's scraper wants to know. It changes nothing."""
