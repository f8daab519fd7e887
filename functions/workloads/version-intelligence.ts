import { optional, string, type } from 'superstruct'
import {
  type Assessment,
  assessCollector,
  byBytes,
  type PostureWorkload,
} from '../../lib/fleet/collector-assessment.ts'
import type { Workload } from '../../lib/fleet/model.ts'
import { buildVersionIntelligence } from '../../lib/fleet/version-intelligence.ts'
import { listNewestAppliedHashes } from '../../lib/store/applied-hashes.ts'
import { findContents } from '../../lib/store/config-contents.ts'
import type { Context } from '../../runtime/context.ts'
import { defineHttp, noBody, noParams, signedIn } from '../../runtime/define.ts'
import { jsonText } from '../../runtime/reply.ts'
import { streamObject } from '../config-safety/stream-object.ts'

/** Collectors assessed before others get their turn. */
const CHUNK = 200

/** How the fleet stands to a recommended version, and what each collector lacks for its config. */
export default defineHttp({
  route: 'GET /api/workloads/version-intelligence',
  summary: "Show the fleet's versions and what its configs need.",
  access: signedIn(),
  gate: 'config_safety.version_intelligence',
  params: noParams,
  query: type({ recommended_version: optional(string()) }),
  body: noBody,
  replies: [{ status: 200, description: 'The posture.', contentType: 'application/json' }],
  errors: [],
  async handle({ query }, ctx) {
    const recommended = (query.recommended_version ?? '').trim()
    const workloads = await readPosture(ctx)
    const collectors = workloads.filter((workload) => workload.type === 'collector')
    const assessments: Assessment[] = []
    for (const [i, collector] of collectors.entries()) {
      if (i > 0 && i % CHUNK === 0) await new Promise((resolve) => setImmediate(resolve))
      assessments.push(assessCollector(collector, recommended))
    }
    return jsonText(streamObject(buildVersionIntelligence(workloads, assessments, recommended)))
  },
})

/** All workloads that are not archived, in list order, each with the outline of the config it should run. */
async function readPosture(ctx: Context): Promise<PostureWorkload[]> {
  const listed = [...ctx.fleet.state.workloads.values()]
    .filter((workload) => workload.archivedAt === null)
    .sort((a, b) => byBytes(a.displayName, b.displayName) || byBytes(a.id, b.id))
  const unassigned = listed.filter((one) => one.type === 'collector' && one.activeHash === null)
  const applied = await listNewestAppliedHashes(
    ctx.db,
    unassigned.map((one) => one.id),
  )
  const hashOf = (one: Workload) =>
    one.type === 'collector' ? (one.activeHash ?? applied.get(one.id) ?? null) : null
  const hashes = new Set(listed.map(hashOf).filter((hash) => hash !== null))
  const outlines = await ctx.configs.outlines([...hashes], (missing) => findContents(ctx.db, missing))
  return listed.map((one) => {
    const hash = hashOf(one)
    const outline = hash === null ? undefined : outlines.get(hash)
    return {
      id: one.id,
      displayName: one.displayName,
      type: one.type,
      status: one.status,
      version: one.version,
      labels: { ...one.labels, ...one.trustedLabels },
      fingerprintKeys: one.fingerprintKeys,
      acceptsRemoteConfig: one.acceptsRemoteConfig,
      remoteConfigStatus: one.remoteConfigStatus,
      availableComponents: one.availableComponents,
      config: hash === null || outline === undefined ? null : { hash, ...outline },
    }
  })
}
