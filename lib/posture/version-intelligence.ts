import { byBytes } from '../model/text-order.ts'
import { isComparable } from '../model/versions.ts'
import { inTurns, nextTurn, sortInTurns } from '../turns.ts'
import type { CompatibilityRow, VersionIntelligence } from '../wire/version-intelligence.ts'
import { type Assessment, groupOf, type PostureWorkload, standingOf } from './collector-assessment.ts'

/** How many collectors are looked at before other work gets a turn. */
const CHUNK = 500

type Cells = Map<string, VersionIntelligence['version_matrix'][number]>

async function versionMatrix(
  workloads: readonly PostureWorkload[],
  recommended: string,
): Promise<VersionIntelligence['version_matrix']> {
  const cells: Cells = new Map()
  // By id, so that each cell lists its workloads in that order.
  const byId = await sortInTurns(workloads, CHUNK, (a, b) => byBytes(a.id, b.id))
  for await (const piece of inTurns(byId, CHUNK))
    for (const workload of piece) addToCell(cells, workload, recommended)
  return [...cells.values()].sort(
    (a, b) =>
      byBytes(a.group, b.group) ||
      byBytes(a.type, b.type) ||
      byBytes(a.status, b.status) ||
      byBytes(a.version, b.version),
  )
}

function addToCell(cells: Cells, workload: PostureWorkload, recommended: string): void {
  const group = groupOf(workload)
  const { type, status } = workload
  const version = workload.version.trim() || 'unknown'
  const key = JSON.stringify([group, type, status, version])
  let cell = cells.get(key)
  if (cell === undefined) {
    const version_status = standingOf(workload, recommended)
    cell = { group, type, status, version, version_status, count: 0, workload_ids: [] }
    cells.set(key, cell)
  }
  cell.count++
  cell.workload_ids.push(workload.id)
}

function recommend(assessment: Assessment, recommended: string): VersionIntelligence['recommendations'] {
  const { row, unsupported } = assessment
  const workload_id = row.workload_id
  const upgrade =
    row.version.status === 'below_recommended'
      ? [
          {
            action: 'upgrade_collector' as const,
            reason: `collector version ${row.version.reported} is below recommended ${recommended.trim()}`,
            workload_id,
          },
        ]
      : []
  const replace = unsupported.flatMap(({ config_hash, component_type }) => {
    const common = { workload_id, config_hash, components: [component_type] }
    return [
      {
        action: 'choose_older_config' as const,
        reason: 'current collector capabilities do not support this config component',
        ...common,
      },
      {
        action: 'remove_component' as const,
        reason: 'remove or replace unsupported component before pushing this config',
        ...common,
      },
    ]
  })
  return [...upgrade, ...replace]
}

async function summarise(
  rows: readonly CompatibilityRow[],
): Promise<VersionIntelligence['compatibility_summary']> {
  const blocked = await flatMapInTurns(rows, ({ runnable, workload_id, display_name, blocking_reasons }) =>
    runnable ? [] : [{ workload_id, display_name, blocking_reasons }],
  )
  return {
    total_collectors: rows.length,
    runnable_count: rows.length - blocked.length,
    not_runnable_count: blocked.length,
    not_runnable_collectors: blocked,
  }
}

/**
 * The version posture of a fleet. `workloads` are all that are not archived, in list order; `assessments`
 * those of its collectors, in the same order. `recommended` may be empty or no version at all.
 */
export async function buildVersionIntelligence(
  workloads: readonly PostureWorkload[],
  assessments: readonly Assessment[],
  recommended: string,
): Promise<VersionIntelligence> {
  const rows = assessments.map((assessment) => assessment.row)
  const sorted = await sortInTurns(rows, CHUNK, (a, b) => byBytes(a.workload_id, b.workload_id))
  const matrix = await versionMatrix(workloads, recommended)
  const recommendations = await flatMapInTurns(assessments, (one) => recommend(one, recommended))
  const unsupported = await flatMapInTurns(assessments, (one) => one.unsupported)
  const below = await flatMapInTurns(rows, (row) => toBelow(row, recommended))
  const invalid = isComparable(recommended) ? await flatMapInTurns(rows, toInvalid) : []
  return {
    schema_version: 'fleet-version-intelligence.v1',
    recommended_version: recommended,
    version_matrix: matrix,
    compatibility_summary: await summarise(sorted),
    compatibility_matrix: sorted,
    collectors_below_recommended: below,
    unsupported_config_components: unsupported,
    invalid_versions: invalid,
    recommendations,
  }
}

async function flatMapInTurns<T, Result>(
  items: Iterable<T>,
  map: (item: T) => readonly Result[],
): Promise<Result[]> {
  const all: Result[] = []
  for await (const piece of inTurns(items, CHUNK)) for (const item of piece) all.push(...map(item))
  await nextTurn()
  return all
}

function toBelow(
  { workload_id, display_name, group, version }: CompatibilityRow,
  recommended: string,
): VersionIntelligence['collectors_below_recommended'] {
  if (version.status !== 'below_recommended') return []
  return [{ workload_id, display_name, group, version: version.reported, recommended_version: recommended }]
}

function toInvalid({
  workload_id,
  display_name,
  version,
}: CompatibilityRow): VersionIntelligence['invalid_versions'] {
  if (version.comparable) return []
  const isEmpty = version.reason === 'unknown_version'
  return [
    {
      workload_id,
      display_name,
      version: isEmpty ? '' : version.reported,
      reason: isEmpty ? 'empty_version' : 'invalid_semver',
    },
  ]
}
