import { array, enums, optional, type } from 'superstruct'
import type { Workload } from '../../lib/fleet/state/model.ts'
import { toConfigWorkload } from '../../lib/fleet-configs/records.ts'
import { listGivenVersions } from '../../lib/store/fleet-config-history.ts'
import { listVersionHashes } from '../../lib/store/fleet-configs.ts'
import { FleetConfigWorkload } from '../../lib/wire/fleet-configs.ts'
import { defineHttp, noBody, signedIn } from '../../runtime/define.ts'
import { listReply, PAGE_ERRORS, pageQuery } from '../../runtime/pagination.ts'
import { problem } from '../../runtime/reply.ts'
import { findFleetConfig, fleetConfigParams } from './_fleet-config-path.ts'

/** Versions, the newest, by whose hashes the version that a workload runs is found. */
const VERSIONS_MAX = 1_000

/** The workloads under a fleet config, those that are held first, by their ids. */
export default defineHttp({
  route: 'GET /api/fleet-configs/:id/workloads',
  summary: 'List the workloads under a fleet config; only those in conflict, or held, where it is asked for.',
  access: signedIn(),
  gate: 'config_safety.campaigns',
  params: fleetConfigParams,
  query: type({ ...pageQuery, only: optional(enums(['conflict', 'held'])) }),
  body: noBody,
  replies: [{ status: 200, description: 'The workloads.', json: array(FleetConfigWorkload) }],
  errors: ['fleet-config-not-found', ...PAGE_ERRORS],
  async handle({ params, query, target }, ctx) {
    const config = findFleetConfig(ctx, params.id)
    if (config === null) return problem('fleet-config-not-found')
    const { fleetConfigs } = ctx
    const isAsked = (workload: Workload) =>
      query.only === undefined ||
      (query.only === 'held'
        ? fleetConfigs.holdOf(workload.id) !== null
        : fleetConfigs.membershipOf(workload).rivals.length > 0)
    // Those that campaigns leave alone come first: somebody has to look at them.
    const keyOf = ({ id }: Workload) => `${fleetConfigs.holdOf(id) === null ? 1 : 0}${id}`
    const all = (await fleetConfigs.under(config.id))
      .filter(isAsked)
      .sort((a, b) => (keyOf(a) < keyOf(b) ? -1 : 1))
    const versions = await listVersionHashes(ctx.db, config.id, VERSIONS_MAX)
    const versionOfHash = new Map(versions.reverse().map(({ hash, number }) => [hash, number]))
    const now = ctx.clock.now()
    return listReply(query, target, {
      order: 'fleet_config_workloads.held_id',
      key: ['string'],
      fetch: async ({ after, limit }) => {
        const from = after === null ? 0 : all.findIndex((one) => keyOf(one) > String(after[0]))
        const page = from === -1 ? [] : all.slice(from, from + limit)
        const assigned = page.flatMap(({ id, activeHash }) =>
          activeHash === null || versionOfHash.has(activeHash) ? [] : { workloadId: id, hash: activeHash },
        )
        const given = await listGivenVersions(ctx.db, config.id, assigned)
        return page.map((workload) => ({
          workload,
          version: versionOfHash.get(workload.activeHash ?? '') ?? given.get(workload.id),
        }))
      },
      keyOf: ({ workload }) => [keyOf(workload)],
      toWire: ({ workload, version }) => toConfigWorkload(fleetConfigs, workload, version, now),
    })
  },
})
