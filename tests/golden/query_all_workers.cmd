$TACHO query two_ranks --all-workers -q "SELECT process_name, count(*) AS slices, sum(dur) AS total_ns FROM slice GROUP BY process_name ORDER BY process_name"
