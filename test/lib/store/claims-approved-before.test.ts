import { expect, it } from 'vitest'
import { useTestDatabase } from '../../support/postgres.ts'
import { onEmptySchema } from '../../support/schema-steps.ts'

const database = await useTestDatabase()

it('what was claimed of a request that is approved by an upgrade counts as approved then, of its owner and its requester', async () => {
  await onEmptySchema(database, async ({ connection, all, before, run }) => {
    await run(before(108))
    await connection.execute(
      `insert into workloads (id, fingerprint_source, fingerprint_keys, display_name, type, version, status,
         last_seen_at, labels, rule_labels, trusted_labels, accepts_remote_config, remote_config_status,
         available_components, generation, push_seq, disconnected_at, created_at)
       values ('w', 'host', '{}', 'w', 'collector', '0.130.0', 'disconnected', now(), '{}', '{}', '{}', true, null, null,
         0, 0, now(), now())`,
    )
    await connection.execute(
      `insert into approvals (id, workload_id, draft_yaml, draft_hash, base_config_hash, target_group, target_env, requester,
         requester_id, request_comment, status, approved_at, prod_target, prod_confirmation, prod_double_confirmed,
         break_glass, created_at, updated_at)
       select 'car_' || n, 'w', '', repeat('a', 64), repeat('0', 64), case n when 4 then 'by-hand' else 'git/platform' end,
         '', 'p', case n when 4 then 'hand' else 'first' end, '', case n when 3 then 'pending' else 'pushed' end,
         case when n <> 3 then '2026-01-01'::timestamptz + n * interval '1 day' end, false, false, false, false, now(), now()
       from generate_series(1, 4) n`,
    )
    await connection.execute(
      `insert into commit_claims (config_hash, by_id, place, owner, since, has_run)
       select repeat(hash, 64), by_id, place, owner, now(), false from (values
         ('a', 'first', 'w', 'renamed'), ('a', 'second', 'w', 'platform'), ('a', 'hand', 'w', 'others'),
         ('a', 'else', 'w', 'others'), ('a', 'first', 'gone', 'platform'), ('b', 'first', 'w', 'platform'))
         as of (hash, by_id, place, owner)`,
    )
    await run(all)
    expect(
      await connection.query(
        `select left(config_hash, 1) || ' ' || by_id || ' ' || place as claim,
           to_char(approved_at at time zone 'utc', 'DD') as day from commit_claims order by claim`,
      ),
    ).toEqual([
      { claim: 'a else w', day: null },
      { claim: 'a first gone', day: null },
      { claim: 'a first w', day: '03' },
      { claim: 'a hand w', day: '05' },
      { claim: 'a second w', day: '03' },
      { claim: 'b first w', day: null },
    ])
  })
})

it('what was claimed of what somebody else got approved there, before a hand-over and an upgrade, names nobody as judged', async () => {
  await onEmptySchema(database, async ({ connection, all, before, run }) => {
    await run(before(110))
    await connection.execute(
      `insert into commit_claims (config_hash, by_id, place, owner, since, has_run, run_at, approved_at)
       select repeat('a', 64), by_id, place, owner, now(), true, now(), approved_at::timestamptz from (values
         ('first', 'w', 'shop', '2026-01-02'), ('second', 'w', 'shop', null), ('else', 'w', 'others', null),
         ('second', 'v', 'shop', null)) as of (by_id, place, owner, approved_at)`,
    )
    await run(all)
    expect(
      await connection.query(
        `select by_id || ' ' || place as claim, approved_at::date::text as day
         from commit_claims order by claim`,
      ),
    ).toEqual([
      { claim: 'else w', day: null },
      { claim: 'first w', day: '2026-01-02' },
      { claim: 'second v', day: null },
      { claim: 'second w', day: '-infinity' },
    ])
  })
})

it('what its requester approved alone before an upgrade was judged by nobody, and by whoever else approved it', async () => {
  await onEmptySchema(database, async ({ connection, all, before, run }) => {
    await run(before(115))
    await connection.execute(
      `insert into workloads (id, fingerprint_source, fingerprint_keys, display_name, type, version, status,
         last_seen_at, labels, rule_labels, trusted_labels, accepts_remote_config, remote_config_status,
         available_components, generation, push_seq, disconnected_at, created_at)
       values ('w', 'host', '{}', 'w', 'collector', '0.130.0', 'disconnected', now(), '{}', '{}', '{}', true, null, null,
         0, 0, now(), now())`,
    )
    await connection.execute(
      `insert into approvals (id, workload_id, draft_yaml, draft_hash, base_config_hash, target_group, target_env, requester,
         requester_id, author_ids, request_comment, status, approver, approver_id, approved_at, prod_target,
         prod_confirmation, prod_double_confirmed, break_glass, created_at, updated_at)
       select 'car_' || n, 'w', '', repeat(hash, 64), repeat('0', 64), 'git/shop', '', 'p', 'one', '{owner}', '', 'pushed',
         by_id, by_id, '2026-01-01'::timestamptz + n * interval '1 day', false, false, false, false, now(), now()
       from (values (1, 'a', 'one'), (2, 'b', 'owner'), (3, 'c', 'other'), (4, 'd', 'other'), (5, 'd', 'one'),
         (6, 'e', 'one')) as of (n, hash, by_id)`,
    )
    await connection.execute(
      `insert into approval_votes (approval_id, user_id, email, comment, approved_at, rule, sole_approver)
       select 'car_6', by_id, by_id, '', now(), null, false from unnest(array['one', 'other']) as by_id`,
    )
    await connection.execute(
      `insert into commit_claims (config_hash, by_id, place, owner, since, has_run)
       select repeat(hash, 64), 'one', 'w', 'shop', now(), false from unnest(array['a', 'b', 'c', 'd', 'e']) as hash`,
    )
    await connection.execute(
      'update commit_claims l set approved_at = (select max(approved_at) from approvals r where r.draft_hash = l.config_hash)',
    )
    await run(all)
    expect(
      await connection.query(
        `select left(config_hash, 1) as text, approved_at::date::text as day from commit_claims order by 1`,
      ),
    ).toEqual([
      { text: 'a', day: '-infinity' },
      { text: 'b', day: '-infinity' },
      { text: 'c', day: '2026-01-04' },
      { text: 'd', day: '2026-01-05' },
      { text: 'e', day: '2026-01-07' },
    ])
  })
})
