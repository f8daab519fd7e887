import type { Db } from '../../../lib/store/db.ts'

const WORKLOADS = 100_000
/**
 * How many of the workloads the janitor has to archive (disconnected for too long) and to delete (archived for too
 * long).
 */
const EXPIRED = 200
const ARCHIVED = 200
const HOMES = 400_000
const FORGOTTEN = 100_000
const EVENTS = 500_000
const ALERTS = 50_000
const REPORTED = 20_000

/** Fill the tables as after a long life of a big fleet, with much that the janitor has to remove. */
export async function seedOldRows(db: Db): Promise<void> {
  await db.execute(
    `insert into workloads (id, fingerprint_source, fingerprint_keys, display_name, type, version, status, last_seen_at,
       labels, trusted_labels, accepts_remote_config, generation, push_seq, disconnected_at, archived_at, created_at)
     select lpad(to_hex(w), 24, '0'), 'k8s', jsonb_build_object('k8s.deployment.name', 'app-' || w), 'app-' || w, 'collector',
       '0.149.0', 'disconnected', gone.at, '{"service.name": "app"}', '{}', true, 0, 0, gone.at,
       case when w <= $2::int then now() - interval '200 days' end, now() - interval '300 days'
     from generate_series(1, $1::int) w,
       lateral (select now() - case when w <= $2::int + $3::int then interval '200 days' else interval '1 day' end as at) gone`,
    [WORKLOADS, ARCHIVED, EXPIRED],
  )
  await db.execute(
    `insert into agent_workloads (instance_uid, workload_id, seen_at)
     select lpad(to_hex(n), 32, '0'), lpad(to_hex(1 + n % $2::int), 24, '0'),
       now() - case when n <= $3::int then interval '100 days' else interval '1 day' end
     from generate_series(1, $1::int) n`,
    [HOMES, WORKLOADS, FORGOTTEN],
  )
  await db.execute(
    `insert into workload_events (workload_id, instance_uid, pod_name, event_type, version, prev_version, occurred_at)
     select lpad(to_hex(1 + n % $2::int), 24, '0'), lpad(to_hex(n), 32, '0'), '', 'connected', '0.149.0', '',
       now() - case when n % 2 = 0 then interval '100 days' else interval '1 day' end
     from generate_series(1, $1::int) n`,
    [EVENTS, WORKLOADS],
  )
  await db.execute(
    `insert into alerts (id, workload_id, rule, severity, message, fired_at, resolved_at, quiet)
     select md5(n::text), lpad(to_hex(1 + n % $2::int), 24, '0'), 'workload_down', 'critical', 'down',
       now() - interval '200 days', now() - interval '199 days', false
     from generate_series(1, $1::int) n`,
    [ALERTS, WORKLOADS],
  )
  await db.execute(
    `insert into reported_configs (hash, body, seen_at)
     select encode(sha256(convert_to(n::text, 'UTF8')), 'hex'), repeat('a: b' || chr(10), 200), now() - interval '9 days'
     from generate_series(1, $1::int) n`,
    [REPORTED],
  )
}
