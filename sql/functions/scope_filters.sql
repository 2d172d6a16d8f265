-- Each filter that is in force, as SQL over memories m with the scope as $2. Only these texts are ever put into a statement.
CREATE FUNCTION pgfuse.scope_filters(_scope pgfuse.scope) RETURNS TABLE (name text, condition text)
LANGUAGE sql IMMUTABLE PARALLEL SAFE ROWS 2
BEGIN ATOMIC
    SELECT f.name, f.condition
    FROM (VALUES
        ('session_ids', _scope.session_ids IS NOT NULL, 'm.session_id = ANY (($2).session_ids)'),
        ('project_id', _scope.project_id IS NOT NULL, 'm.project_id = ($2).project_id'),
        ('exclude_ids', _scope.exclude_ids IS NOT NULL, 'm.id <> ALL (($2).exclude_ids)'),
        ('kinds', _scope.kinds IS NOT NULL, 'm.kind = ANY (($2).kinds)'),
        ('granularity', _scope.granularity IS NOT NULL, 'm.granularity = ANY (($2).granularity)'),
        ('tags', _scope.tags IS NOT NULL, 'm.tags && ($2).tags'),
        ('metadata', _scope.metadata IS NOT NULL, 'm.metadata @> ($2).metadata'),
        ('since', _scope.since IS NOT NULL, 'coalesce(m.occurred_at, m.created_at) >= ($2).since'),
        ('until', _scope.until IS NOT NULL, 'coalesce(m.occurred_at, m.created_at) <= ($2).until'),
        ('as_of', _scope.as_of IS NOT NULL, 'coalesce(m.occurred_at, m.created_at) <= ($2).as_of')
    ) AS f (name, in_force, condition)
    WHERE f.in_force;
END;
