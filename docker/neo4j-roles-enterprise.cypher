// Roles of Neo4j Enterprise for graphiti-pkm, one for each tier of a token: reader, contributor, librarian, curator.
//
//   cypher-shell -d system -u neo4j -f docker/neo4j-roles-enterprise.cypher
//
// It may be run again. It is for the database `neo4j`: put another name in its place if `neo4j_database` has one.
// Roles do not inherit in Neo4j: a user gets the role of the tier and all before it, as at the end of this file.
// Read DOCS/operations.md on what this guards against and what not; Community has no roles and refuses each line.
//
// Labels, relation types and rights are those of the product's own queries; a test compares them. Entities carry their
// type as a second label and attributes as properties, so labels and property names are not limited.

// reader: sees everything, writes nothing. For `neo4j_reader_username`, and for people who look with a browser.
CREATE ROLE mem_reader IF NOT EXISTS;
GRANT ACCESS ON DATABASE neo4j TO mem_reader;
GRANT MATCH {*} ON GRAPH neo4j ELEMENTS * TO mem_reader;
GRANT SHOW INDEX ON DATABASE neo4j TO mem_reader;
GRANT EXECUTE PROCEDURE dbms.components, db.labels ON DBMS TO mem_reader;
GRANT EXECUTE PROCEDURE db.index.fulltext.queryNodes, db.index.fulltext.queryRelationships ON DBMS TO mem_reader;
GRANT EXECUTE PROCEDURE db.index.vector.queryNodes, db.index.vector.queryRelationships ON DBMS TO mem_reader;

// contributor: adds episodes, entities and facts. A new fact ends an older one, a new name finds an older entity: so it
// may set properties of what is there. It deletes nothing. MERGE is to match, create and set properties.
CREATE ROLE mem_contributor IF NOT EXISTS;
GRANT MERGE {*} ON GRAPH neo4j NODES Entity, Episodic, Saga, Community TO mem_contributor;
GRANT MERGE {*} ON GRAPH neo4j NODES Passage, Name, SearchText, Change, Write, Group, Meta TO mem_contributor;
GRANT MERGE {*} ON GRAPH neo4j NODES Reading, Server, Apart, ProjectRecord, EntryRecord, QualityRecord, WriteOrigin TO mem_contributor;
GRANT MERGE {*} ON GRAPH neo4j NODES MergePart, FormerUuid, MetricsRecord TO mem_contributor;
GRANT MERGE {*} ON GRAPH neo4j NODES DocumentRecord, InstanceRecord TO mem_contributor;
GRANT MERGE {*} ON GRAPH neo4j RELATIONSHIPS RELATES_TO, MENTIONS, OF TO mem_contributor;
GRANT MERGE {*} ON GRAPH neo4j RELATIONSHIPS SECTION, EVIDENCED_BY, FROM_SOURCE TO mem_contributor;
GRANT MERGE {*} ON GRAPH neo4j RELATIONSHIPS HAS_EPISODE, NEXT_EPISODE, HAS_MEMBER TO mem_contributor;
GRANT SET LABEL * ON GRAPH neo4j TO mem_contributor;
GRANT REMOVE LABEL * ON GRAPH neo4j TO mem_contributor;
GRANT NAME MANAGEMENT ON DATABASE neo4j TO mem_contributor;
GRANT CREATE INDEX ON DATABASE neo4j TO mem_contributor;

// librarian: merges duplicates and removes facts, entities and communities, which others may have come from. Episodes,
// the sources, and the record of what changed stay.
CREATE ROLE mem_librarian IF NOT EXISTS;
GRANT DELETE ON GRAPH neo4j NODES Entity, Name, SearchText, Community, Apart, ProjectRecord, QualityRecord TO mem_librarian;
GRANT DELETE ON GRAPH neo4j NODES MergePart, FormerUuid, MetricsRecord TO mem_librarian;
GRANT DELETE ON GRAPH neo4j NODES InstanceRecord TO mem_librarian;
GRANT DELETE ON GRAPH neo4j RELATIONSHIPS RELATES_TO, MENTIONS, OF, HAS_MEMBER TO mem_librarian;
GRANT DELETE ON GRAPH neo4j RELATIONSHIPS EVIDENCED_BY, FROM_SOURCE TO mem_librarian;

// curator: everything in this database, its indexes and constraints too. A server must have started once with these
// rights before one with fewer can use the database: the first start builds the indexes.
CREATE ROLE mem_curator IF NOT EXISTS;
GRANT WRITE ON GRAPH neo4j TO mem_curator;
GRANT INDEX MANAGEMENT ON DATABASE neo4j TO mem_curator;
GRANT CONSTRAINT MANAGEMENT ON DATABASE neo4j TO mem_curator;

// Users: one for each tier that has servers of its own. Give each a password of its own and take the slashes away.
// CREATE USER mem_agent_reader IF NOT EXISTS SET PASSWORD 'change me: 1' CHANGE NOT REQUIRED;
// GRANT ROLE mem_reader TO mem_agent_reader;
// CREATE USER mem_agent_contributor IF NOT EXISTS SET PASSWORD 'change me: 2' CHANGE NOT REQUIRED;
// GRANT ROLE mem_reader, mem_contributor TO mem_agent_contributor;
// CREATE USER mem_agent_librarian IF NOT EXISTS SET PASSWORD 'change me: 3' CHANGE NOT REQUIRED;
// GRANT ROLE mem_reader, mem_contributor, mem_librarian TO mem_agent_librarian;
// CREATE USER mem_agent_curator IF NOT EXISTS SET PASSWORD 'change me: 4' CHANGE NOT REQUIRED;
// GRANT ROLE mem_reader, mem_contributor, mem_librarian, mem_curator TO mem_agent_curator;
