import type { Workload } from '../../lib/fleet/state/model.ts'
import { assessCollector, type PostureWorkload } from '../../lib/posture/collector-assessment.ts'
import { buildVersionIntelligence } from '../../lib/posture/version-intelligence.ts'
import { listNewestAppliedHashes } from '../../lib/store/applied-hashes.ts'
import { findContents } from '../../lib/store/config-contents.ts'
import { inTurns, mapInTurns } from '../../lib/turns.ts'
import type { VersionIntelligence } from '../../lib/wire/version-intelligence.ts'
import type { Context } from '../../runtime/context.ts'

/** Collectors assessed before others get their turn. */
const CHUNK = 200

/** How the fleet stands to a version, or to the recommended one, and what each collector lacks for its config. */
export async function postureOf(ctx: Context, asked: string | undefined): Promise<VersionIntelligence> {
  const recommended = (asked ?? ctx.recommendedVersion.version).trim()
  const workloads = await readPosture(ctx)
  const collectors = workloads.filter((workload) => workload.type === 'collector')
  const assessments = await mapInTurns(collectors, CHUNK, (one) => assessCollector(one, recommended))
  return buildVersionIntelligence(workloads, assessments, recommended)
}

/** All workloads that are not archived, in list order, each with the outline of the config it should run. */
async function readPosture(ctx: Context): Promise<PostureWorkload[]> {
  const listed: Workload[] = []
  const unassigned: string[] = []
  for await (const piece of inTurns(ctx.fleet.state.workloadsByName(), CHUNK))
    for (const one of piece) {
      if (one.archivedAt !== null) continue
      listed.push(one)
      if (one.type === 'collector' && one.activeHash === null) unassigned.push(one.id)
    }
  const applied = await listNewestAppliedHashes(ctx.db, unassigned)
  const hashOf = (one: Workload) =>
    one.type === 'collector' ? (one.activeHash ?? applied.get(one.id) ?? null) : null
  const hashes = new Set(await mapInTurns(listed, CHUNK, hashOf))
  hashes.delete(null)
  const outlines = await ctx.configs.outlines([...hashes] as string[], (missing) =>
    findContents(ctx.db, missing),
  )
  return mapInTurns(listed, CHUNK, (one) => {
    const hash = hashOf(one)
    const outline = hash === null ? undefined : outlines.get(hash)
    return {
      id: one.id,
      displayName: one.displayName,
      type: one.type,
      status: one.status,
      version: one.version,
      versionMix: one.live.versionMix(),
      labels: { ...one.labels, ...one.trustedLabels },
      fingerprintKeys: one.fingerprintKeys,
      acceptsRemoteConfig: one.acceptsRemoteConfig,
      remoteConfigStatus: one.remoteConfigStatus,
      availableComponents: one.availableComponents,
      config: hash === null || outline === undefined ? null : { hash, ...outline },
    }
  })
}
