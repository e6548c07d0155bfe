"""Names of the properties that mark nodes and edges of a scratch graph as loaded from memory."""

MEMORY_UUID = "memory_uuid"
MEMORY_GROUP = "memory_group"
FACT_UUIDS = "fact_uuids"
LOADED_AS = "loaded_as"
SENTENCE = "fact"
VALUE = "value"
