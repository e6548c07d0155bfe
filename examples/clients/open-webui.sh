uvx --with "mcp<2" --with "fastapi<0.119" mcpo --port 8001 --api-key "A-KEY-OF-YOURS" -- graphiti-pkm serve
