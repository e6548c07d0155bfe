uvx mcpo --port 8001 --api-key "A-KEY-OF-YOURS" -- graphiti-pkm serve
