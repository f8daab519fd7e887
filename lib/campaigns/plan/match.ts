import { isProductionByLabels } from '../../model/production.ts'
import { isGlob, openGlob } from '../../selectors/glob.ts'
import { openSelector, toSelectable } from '../../selectors/selector.ts'
import { inTurns } from '../../turns.ts'
import type { CampaignMatch, CampaignScope } from '../../wire/campaigns.ts'
import type { Selector, SelectorExpression } from '../../wire/selectors.ts'
import type { CampaignParts } from '../judge/parts.ts'
import { listMeant, type MeantWorkload, namesOf, openScope } from '../judge/scope.ts'

/** Names of selected workloads, and entries that mean nobody, that are shown at most. */
const NAMES_MAX = 10
const UNMATCHED_MAX = 20
/** Workloads that are looked at before other work gets a turn. */
const CHUNK = 500

/** Say which workloads a scope means now. `fleetConfigId` is set where a version of that fleet config is carried. */
export async function matchScope(
  parts: Pick<CampaignParts, 'fleet' | 'fleetConfigs'>,
  scope: CampaignScope,
  fleetConfigId: string | null,
): Promise<CampaignMatch> {
  const meant = await listMeant(parts, scope, openScope(parts, scope, fleetConfigId))
  const selected = meant.flatMap(({ workload, meant }) => (meant === 'selected' ? [workload] : []))
  const names = selected.map(
    (workload) => workload.fingerprintKeys['host.name'] || (namesOf(workload)[0] ?? workload.id),
  )
  return {
    selected_count: selected.length,
    excluded_count: meant.filter(({ meant }) => meant === 'excluded').length,
    ...(scope.cut_to === undefined
      ? {}
      : { outside_scope_count: meant.filter(({ meant }) => meant === 'outside').length }),
    production_count: selected.filter(({ labels, trustedLabels }) =>
      isProductionByLabels({ labels, trustedLabels }),
    ).length,
    disconnected_count: selected.filter(({ status }) => status === 'disconnected').length,
    names: names.sort().slice(0, NAMES_MAX),
    unmatched: (await findUnmatched(parts, scope, meant)).slice(0, UNMATCHED_MAX),
    ...(scope.selector === undefined || meant.length > 0
      ? {}
      : { unmet: (await findUnmet(parts, scope.selector)).slice(0, UNMATCHED_MAX) }),
  }
}

/** The conditions of a selector on labels and identities that no workload meets, whatever the other conditions are. */
async function findUnmet(
  { fleet }: Pick<CampaignParts, 'fleet'>,
  { match_labels = {}, match_expressions = [] }: Selector,
): Promise<SelectorExpression[]> {
  const all: SelectorExpression[] = [
    ...Object.entries(match_labels).map(([key, value]) => ({
      key,
      operator: 'In' as const,
      values: [value],
    })),
    ...match_expressions,
  ]
  let left = all.map((condition) => ({ condition, isMet: openSelector({ match_expressions: [condition] }) }))
  for await (const some of inTurns(fleet.state.workloads.values(), CHUNK))
    for (const workload of some) {
      if (workload.archivedAt !== null) continue
      const selectable = toSelectable(workload)
      left = left.filter(({ isMet }) => !isMet(selectable))
    }
  return left.map(({ condition }) => condition)
}

/** The entries of a scope that mean nobody: very likely somebody mistyped them. */
async function findUnmatched(
  { fleet }: Pick<CampaignParts, 'fleet'>,
  { workload_ids: ids = [], exclude_ids: leftIds = [], exclude_names: leftNames = [] }: CampaignScope,
  meant: readonly MeantWorkload[],
): Promise<string[]> {
  const meantIds = new Set(meant.map(({ workload }) => workload.id))
  const meantNames = new Set(meant.flatMap(({ workload }) => namesOf(workload)))
  let unmet = leftNames.filter(isGlob).map((glob) => ({ glob, isFit: openGlob(glob) }))
  for await (const some of inTurns(meantNames, CHUNK)) {
    unmet = unmet.filter(({ isFit }) => !some.some(isFit))
    if (unmet.length === 0) break
  }
  const unmetGlobs = new Set(unmet.map(({ glob }) => glob))
  const isNobody = (name: string) => (isGlob(name) ? unmetGlobs.has(name) : !meantNames.has(name))
  return [
    ...ids.filter((id) => fleet.workload(id) === null),
    ...leftIds.filter((id) => !meantIds.has(id)),
    ...leftNames.filter(isNobody),
  ]
}
