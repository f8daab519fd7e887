import { expect, it } from 'vitest'
import { useTestDatabase } from '../../support/postgres.ts'
import { onEmptySchema } from '../../support/schema-steps.ts'

const database = await useTestDatabase()

it('what Git asks for, what of that ran before, and what was requested and never brought to run stays known at an upgrade', async () => {
  await onEmptySchema(database, async ({ connection, all, before, run }) => {
    await run(before(112))
    await connection.execute(
      `insert into workloads (id, fingerprint_source, fingerprint_keys, display_name, type, version, status,
         last_seen_at, labels, rule_labels, trusted_labels, accepts_remote_config, remote_config_status,
         available_components, generation, push_seq, disconnected_at, created_at)
       values ('w', 'host', '{}', 'w', 'collector', '0.130.0', 'disconnected', now(), '{}', '{}', '{}', true, null, null,
         0, 0, now(), now())`,
    )
    // Of 'shop': pushed, then two that were not; of 'edge', let go of: pushed only; of 'more', let go of: rejected.
    await connection.execute(
      `insert into approvals (id, workload_id, draft_yaml, draft_hash, base_config_hash, target_group, target_env, requester,
         requester_id, request_comment, status, prod_target, prod_confirmation, prod_double_confirmed, break_glass,
         created_at, updated_at)
       select 'car_' || n, 'w', '', repeat(hash, 64), repeat('0', 64), 'git/' || owner, '', 'p', by_id, '', status, false,
         false, false, false, now() + n * interval '1 day', now()
       from (values (1, 'a', 'shop', 'one', 'rejected'), (2, 'b', 'shop', 'one', 'pushed'), (3, 'c', 'shop', 'one', 'retired'),
         (4, 'd', 'shop', 'two', 'withdrawn'), (5, 'e', 'edge', 'three', 'pushed'), (6, 'f', 'more', 'four', 'rejected'))
         as of (n, hash, owner, by_id, status)`,
    )
    await connection.execute(
      `insert into managed_configs (workload_id, owner, config_hash, approval_id, commit_sha, commit_author, ran_commit_sha,
         ran_config_hash, applied_at, applied_by, applied_by_id)
       values ('w', 'shop', repeat('9', 64), null, '', '', '', repeat('8', 64), now(), 'p', null)`,
    )
    await run(all)
    const rows = await connection.query(
      `select left(config_hash, 1) as text, owner, by_id as by,
         left(replaced_by, 1) as "replacedBy" from unseen_texts order by 1`,
    )
    expect(rows).toEqual([
      { text: '8', owner: 'shop', by: '', replacedBy: '9' },
      { text: '9', owner: 'shop', by: '', replacedBy: null },
      { text: 'c', owner: 'shop', by: 'one', replacedBy: null },
      { text: 'd', owner: 'shop', by: 'two', replacedBy: null },
      { text: 'f', owner: 'more', by: 'four', replacedBy: null },
    ])
  })
})
