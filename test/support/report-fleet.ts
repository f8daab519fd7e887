import type { Db } from '../../lib/store/db.ts'

/** How many rows to insert; see `seedReportFleet`. */
export interface ReportFleet {
  workloads: number
  pushes: number
  events: number
}

/**
 * Insert workloads `wl-0001` and on, each with its pushes (one a minute, newest last, the second newest failed),
 * events, one alert and one pushed approval. All times count from `start`, and the texts hold secrets that a report
 * must not show.
 */
export async function seedReportFleet(db: Db, fleet: ReportFleet, start: string): Promise<void> {
  const { workloads, pushes, events } = fleet
  await db.execute(
    `insert into config_contents (hash, body, components, created_at)
     select encode(sha256(convert_to('config ' || w || '/' || p, 'UTF8')), 'hex'), 'exporters: {otlp: {headers: {authorization: raw-yaml-secret}}}',
       jsonb_build_array(jsonb_build_object('category', 'exporters', 'type', 'otlp', 'id', 'otlp/' || p, 'path', '')), $3::timestamptz
     from generate_series(1, $1::int) w, generate_series(1, $2::int) p`,
    [workloads, pushes, start],
  )
  await db.execute(
    `insert into workloads (id, fingerprint_source, fingerprint_keys, display_name, type, version, status, last_seen_at,
       labels, trusted_labels, accepts_remote_config, remote_config_status, available_components, active_config_hash,
       active_push_id, generation, push_seq, disconnected_at, archived_at, created_at)
     select 'wl-' || lpad(w::text, 4, '0'), 'k8s', jsonb_build_object('k8s.deployment.name', 'app-' || w), 'Collector ' || lpad(w::text, 4, '0'), 'collector', '0.131.1',
       'connected', $3::timestamptz + interval '1 day',
       jsonb_build_object('owner', 'agent-label-secret', 'team', 'a'), jsonb_build_object('group', 'checkout', 'contact', 'operator@example.com'),
       true, jsonb_build_object('status', 'applied', 'updatedAt', $3::text, 'configHash', active.hash), null, active.hash, null, 1, $2, null, null, $3::timestamptz
     from generate_series(1, $1::int) w,
       lateral (select encode(sha256(convert_to('config ' || w || '/' || $2::int, 'UTF8')), 'hex') as hash) active`,
    [workloads, pushes, start],
  )
  await db.execute(
    `insert into pushes (push_id, workload_id, seq, config_hash, kind, pushed_by, generation, status, phase, submitted_at,
       applied_at, failed_at, updated_at, error_cause, error_title, error_text, target_count, applying_count, applied_count, failed_count,
       straggler_count, gone_count, joined_count, excluded)
     select md5('push ' || w || '/' || p)::uuid, 'wl-' || lpad(w::text, 4, '0'), p,
       encode(sha256(convert_to('config ' || w || '/' || p, 'UTF8')), 'hex'),
       'approval', 'operator@example.com', p, s.status, s.status, at, case when s.status = 'applied' then at + interval '3 seconds' end,
       case when s.status = 'failed' then at + interval '1 second' end, at,
       case when s.status = 'failed' then 'port_in_use' end, case when s.status = 'failed' then 'Port in use' end,
       case when s.status = 'failed' then 'raw-agent-text Bearer secret SECRET_TOKEN=abc https://tenant-a.internal/' end,
       2, 0, case when s.status = 'applied' then 2 else 0 end, case when s.status = 'failed' then 2 else 0 end, 0, 0, 0, '{}'
     from generate_series(1, $1::int) w, generate_series(1, $2::int) p,
       lateral (select case when p = $2 - 1 then 'failed' else 'applied' end as status, $3::timestamptz + p * interval '1 minute' as at) s`,
    [workloads, pushes, start],
  )
  await db.execute(
    `insert into push_targets (push_id, instance_uid, pod_name, is_target, is_joiner, state, generation, offered_at, ended_at, had_failed_before, losses, updated_at)
     select push_id, 'uid-' || n, 'pod-' || n, true, false, status, generation, submitted_at, submitted_at + n * interval '1 second', false, 0, submitted_at
     from pushes, generate_series(1, 2) n`,
  )
  await db.execute(
    `insert into workload_events (workload_id, instance_uid, pod_name, event_type, version, prev_version, occurred_at)
     select 'wl-' || lpad(w::text, 4, '0'), 'uid-' || e, 'pod-' || e, 'connected', '0.131.1', '', $3::timestamptz + e * interval '1 minute'
     from generate_series(1, $1::int) w, generate_series(1, $2::int) e order by e, w`,
    [workloads, events, start],
  )
  await db.execute(
    `insert into alerts (id, workload_id, rule, severity, message, fired_at, resolved_at, quiet)
     select md5('alert ' || w), 'wl-' || lpad(w::text, 4, '0'), 'config_drift', 'warning', 'Config drifted', $2::timestamptz + interval '5 minutes', null, false
     from generate_series(1, $1::int) w`,
    [workloads, start],
  )
  await db.execute(
    `insert into approvals (id, workload_id, draft_yaml, draft_hash, base_config_hash, target_group, target_env, requester, requester_id,
       request_comment, status, approver, approver_id, approval_comment, approved_at, prod_target, prod_confirmation, prod_double_confirmed,
       break_glass, created_at, updated_at)
     select 'car_' || md5('approval ' || w), 'wl-' || lpad(w::text, 4, '0'), 'raw-yaml-secret', encode(sha256(convert_to('config ' || w || '/2', 'UTF8')), 'hex'),
       encode(sha256(convert_to('config ' || w || '/1', 'UTF8')), 'hex'), 'checkout', 'production', 'operator@example.com', 'user-1',
       'asked by unknown@elsewhere.test, see https://wiki.tenant-a.internal/x?token=abc', 'approved', 'operator@example.com', 'user-1', 'fine', $2::timestamptz + interval '3 minutes', true, true, false,
       false, $2::timestamptz + interval '2 minutes', $2::timestamptz + interval '3 minutes'
     from generate_series(1, $1::int) w`,
    [workloads, start],
  )
}
