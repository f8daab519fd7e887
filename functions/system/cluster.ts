import { OWNER_SILENT_MS } from '../../lib/cluster/timing.ts'
import { countPlaces } from '../../lib/fleet/views/where-agents-are.ts'
import { Cluster } from '../../lib/wire/system.ts'
import { defineHttp, noBody, noParams, noQuery, signedIn } from '../../runtime/define.ts'
import { json } from '../../runtime/reply.ts'

/** The processes that serve this fleet, as the owner knows them. */
export default defineHttp({
  route: 'GET /api/system/cluster',
  summary: 'The processes of this fleet, and which of them decides.',
  access: signedIn('settings:manage', 'nothing'),
  gate: null,
  params: noParams,
  query: noQuery,
  body: noBody,
  replies: [{ status: 200, description: 'The processes.', json: Cluster }],
  errors: [],
  async handle({ header }, ctx) {
    const facts = ctx.cluster?.() ?? null
    const cluster: Cluster = {
      is_one_of_several: facts !== null,
      epoch: facts?.epoch ?? null,
      served_by: facts?.servedBy(header) ?? null,
      takeovers: facts?.takeovers ?? 0,
      owned_since: facts?.ownedSince.toISOString() ?? null,
      members: (facts?.members ?? []).map((member) => ({
        id: member.id,
        address: member.address,
        host: member.host,
        pid: member.pid,
        version: member.version,
        started_at: member.startedAt.toISOString(),
        silent_ms: Math.round(member.silentMs),
        is_owner: member.isOwner,
        waits_for: [...member.waitsFor],
        is_silent: member.silentMs >= OWNER_SILENT_MS,
        linked_since: member.link?.since.toISOString() ?? null,
        agents: member.link?.agents ?? 0,
        counts: member.link?.counts ?? null,
      })),
      departed: (facts?.departures ?? []).map(({ id, address, host, pid, version, until, hasLeft }) => ({
        id,
        address,
        host,
        pid,
        version,
        until: until.toISOString(),
        has_left: hasLeft,
      })),
      agents: await countPlaces(ctx.fleet.state.instances.values()),
    }
    return json(cluster)
  },
})
