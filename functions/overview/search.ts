import { optional, string, type } from 'superstruct'
import { sightOf } from '../../lib/fleet/views/fleet-views.ts'
import { rightsOn } from '../../lib/model/scopes.ts'
import { compareNames } from '../../lib/model/workload-names.ts'
import { CODES, matchesTerms, parseSearch } from '../../lib/model/workload-search.ts'
import { readOnlyReason } from '../../lib/model/workload-states.ts'
import { Pace } from '../../lib/turns.ts'
import { type FoundWorkload, FoundWorkloads, SearchedOnly } from '../../lib/wire/fleet-search.ts'
import type { WorkloadRecord } from '../../lib/wire/workloads.ts'
import { defineHttp, noBody, noParams, signedIn } from '../../runtime/define.ts'
import { readLimit } from '../../runtime/pagination.ts'
import { json, problem } from '../../runtime/reply.ts'

/** Workloads in one answer, unless fewer are asked for. */
const FOUND_MAX = 100
/** Words of a search that count. */
const TERMS_MAX = 20
/** Workloads that are looked at in one turn of the event loop. */
const LOOKED_AT = 200

const ARE: Record<SearchedOnly, (workload: WorkloadRecord) => boolean> = {
  takes_configs: (workload) => readOnlyReason(workload) === null,
  pushed: ({ current_config_push: push }) => push !== undefined,
}

/** The first workloads by name that a search finds: whoever chooses one need not fetch the whole fleet. */
export default defineHttp({
  route: 'GET /api/fleet/search',
  summary:
    'The first workloads that a search finds: by name, place, label, id, version or code of what is wrong, or by `key:value`.',
  access: signedIn(),
  gate: null,
  params: noParams,
  query: type({ q: optional(string()), limit: optional(string()), only: optional(SearchedOnly) }),
  body: noBody,
  replies: [{ status: 200, description: 'Those that were found; at most 100.', json: FoundWorkloads }],
  errors: ['invalid-limit'],
  async handle({ query, actor }, ctx) {
    const limit = query.limit === undefined ? FOUND_MAX : readLimit(query.limit)
    if (limit === null) return problem('invalid-limit')
    const most = Math.min(limit, FOUND_MAX)
    const terms = parseSearch(query.q ?? '').slice(0, TERMS_MAX)
    const isMeant = query.only === undefined ? null : ARE[query.only]
    const pace = new Pace({ size: LOOKED_AT, clock: ctx.clock })
    const found: FoundWorkload[] = []
    for (const workload of ctx.fleet.state.workloadsByName()) {
      const rest = pace.beat()
      if (rest !== null) await rest
      if (workload.isDeleted || workload.archivedAt !== null) continue
      const record = ctx.views.workload(workload, sightOf(rightsOn(actor.grants, workload.trustedLabels)))
      if (isMeant?.(record) === false || !matchesTerms(record, terms, CODES)) continue
      if (found.length === most) return json({ workloads: found.sort(compareNames), has_more: true })
      found.push(toFound(record))
    }
    return json({ workloads: found.sort(compareNames), has_more: false })
  },
})

function toFound(record: WorkloadRecord): FoundWorkload {
  const { id, display_name, fingerprint_keys, labels, type, accepts_remote_config } = record
  const { connected_instance_count, current_config_push: push, trouble } = record
  return {
    id,
    display_name,
    fingerprint_keys,
    labels,
    type,
    accepts_remote_config,
    connected_instance_count,
    ...(push === undefined ? {} : { current_config_push: push }),
    ...(trouble === undefined ? {} : { trouble }),
  }
}
