import { expect, test } from 'vitest'
import { configOf } from './support/fleet.ts'
import { untilStored, useReplicatedPair } from './support/replicated-pair.ts'
import type { OneOfSeveral } from './support/several.ts'

const AGENTS = 30
/** For how long there is no primary: longer than an owner may act without a renewal. */
const AWAY_MS = 6_000
/** A process renews itself once a second, and is to serve within five seconds. */
const RENEWALS_MAX = 5
const pair = useReplicatedPair(AGENTS)

/** Let the database note, in their order, each renewal of a member and each change of a theme, and at which server. */
async function noteEvents(): Promise<void> {
  await pair.several.rows(`
    create table happened (seq bigint generated always as identity, what text not null,
      port text not null default current_setting('port'));
    create function note_event() returns trigger language plpgsql as $$
    begin
      insert into happened (what) values (to_jsonb(new) ->> tg_argv[0]);
      return null;
    end $$;
    create trigger renewed after insert or update on members for each row execute function note_event('id');
    create trigger changed after insert or update on user_preferences
      for each row execute function note_event('theme')`)
}

/** How often this member had renewed itself on the new primary when this theme was stored. */
async function renewalsBefore(theme: string, { memberId }: OneOfSeveral): Promise<number> {
  const [found] = await pair.several.rows<{ n: number }>(
    `select count(*)::int as n from happened where what = $2 and port = current_setting('port')
       and seq < (select min(seq) from happened where what = $1)`,
    [theme, memberId()],
  )
  return found!.n
}

test('a primary that is killed and replaced by its standby takes no agent and nothing that was acknowledged', async () => {
  const { postgres, several, loads } = pair
  const [owner, front] = several.all as [OneOfSeveral, OneOfSeveral]
  const workloadId = await loads.storedWorkload()
  const yaml = configOf('acknowledged right before the primary died')
  await noteEvents()
  const label = `/api/workloads/${workloadId}/trusted-labels`
  await owner.api.pushConfig(workloadId, yaml)
  expect((await front.api.call('PUT', label, { labels: { team: 'last words' } })).status).toBeLessThan(300)
  await postgres.killPrimary()
  const { status } = await front.api.call('PUT', label, { labels: { team: 'too late' } })
  expect(status).toBe(503)
  expect(several.all.map((one) => one.running().hasEnded())).toEqual([false, false])
  await new Promise((resolve) => setTimeout(resolve, AWAY_MS))
  for (const load of loads.all) expect(load.stats().open).toBe(AGENTS)
  await postgres.promote()

  // The owner serves no change before it has renewed itself on the new primary, and soon after that, as its front does.
  await Promise.all([untilStored(owner, 'dark'), untilStored(front, 'light')])
  const [ofOwner, ofFront] = [await renewalsBefore('dark', owner), await renewalsBefore('light', front)]
  expect(ofOwner).toBeGreaterThanOrEqual(1)
  expect(Math.max(ofOwner, ofFront)).toBeLessThanOrEqual(RENEWALS_MAX)
  const [labels] = await several.rows<{ team: string }>(
    `select trusted_labels ->> 'team' as team from workloads`,
  )
  expect(labels!.team).toBe('last words')
  await loads.everybodyRuns(yaml)
  await loads.storedAsApplied()

  // The same process owns, no other has taken its place, and no socket was lost.
  const [found] = await several.rows<{ epoch: number }>('select epoch::int from process_epoch')
  expect(found!.epoch).toBe(1)
  loads.expectNobodyCut()
  expect(await owner.api.get('/api/audit/verify')).toMatchObject({ valid: true })
})
