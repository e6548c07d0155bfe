"""Names of the properties by which a scratch graph knows what of memory it holds."""

MEMORY_UUID = "memory_uuid"
MEMORY_GROUP = "memory_group"
FACT_UUIDS = "fact_uuids"
LOADED_AS = "loaded_as"
SENTENCE = "fact"
VALUE = "value"
