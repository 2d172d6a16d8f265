"""Every statement that the client sends: calls of SQL functions with named arguments."""

SCHEMA_VERSION = 1

SPACE = """
SELECT s.space_id, s.model, s.dim, pgfuse.schema_version() AS schema_version FROM pgfuse.spaces s WHERE s.active
"""

RECALL = """
SELECT * FROM pgfuse.try_recall(
    profile_id => %(profile_id)s, query => %(query)s, embedding => %(embedding)s, top_k => %(top_k)s,
    options => %(options)s, schema_version => %(schema_version)s)
"""

WHY_NOT = """
SELECT pgfuse.why_not(
    profile_id => %(profile_id)s, query => %(query)s, embedding => %(embedding)s, top_k => %(top_k)s,
    options => %(options)s, memory_id => %(memory_id)s::bigint) AS answer
"""

COMPARE_MEMORIES = """
SELECT * FROM pgfuse.compare_memories(profile_id => %(profile_id)s, space => %(space)s, memories => %(memories)s)
"""

LOCK_CALL = """
SELECT pgfuse.lock_call(
    profile_id => %(profile_id)s, session_ids => %(session_ids)s, external_ids => %(external_ids)s)
"""

STORE_MEMORIES = """
SELECT * FROM pgfuse.store_memories(profile_id => %(profile_id)s, memories => %(memories)s)
"""

PRUNE_VECTORS = """
SELECT * FROM pgfuse.prune_vectors(
    profile_id => %(profile_id)s, space => %(space)s, ids => %(ids)s,
    wanted_ids => %(wanted_ids)s, wanted_routes => %(wanted_routes)s, wanted_sources => %(wanted_sources)s)
"""

COPY_VECTORS = """
COPY pgfuse.vectors (profile_id, memory_id, space_id, route, source, embedding) FROM STDIN (FORMAT BINARY)
"""

FORGET = """
SELECT pgfuse.forget(
    profile_id => %(profile_id)s, ids => %(ids)s, external_ids => %(external_ids)s,
    session_ids => %(session_ids)s) AS removed
"""

SETTINGS = "SELECT pgfuse.settings(profile_id => %(profile_id)s) AS settings"

CONFIGURE = "SELECT pgfuse.configure(profile_id => %(profile_id)s, changes => %(changes)s) AS settings"

ROLLBACK_SETTINGS = """
SELECT pgfuse.rollback_settings(profile_id => %(profile_id)s, to_version => %(version)s) AS settings
"""

SETTINGS_HISTORY = """
SELECT version, settings, changed_at, changed_by FROM pgfuse.settings WHERE profile_id = %(profile_id)s ORDER BY version
"""
