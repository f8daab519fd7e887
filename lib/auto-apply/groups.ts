import { JudgeBusy } from '../campaigns/judge/judge.ts'
import {
  type ComparedTexts,
  readDiff,
  SHOWN_VALUES_MAX,
  type SomeLines,
  showChange,
  toVariable,
} from '../campaigns/plan/groups.ts'
import { compareWithReport, keyReports, reportInPlaceOfBase } from '../campaigns/plan/reports.ts'
import type { Workload } from '../fleet/state/model.ts'
import { listMembersThen } from '../fleet-configs/members-then.ts'
import { toDeclared } from '../fleet-configs/read-version.ts'
import { chooseValues } from '../fleet-configs/values.ts'
import { configHash } from '../model/config-hash.ts'
import { placeOf } from '../model/places.ts'
import { compareText } from '../model/text-order.ts'
import { toSelectable } from '../selectors/selector.ts'
import type { StoredAutoApply } from '../store/auto-apply.ts'
import type { GroupPosition, GroupValue } from '../store/campaign-targets.ts'
import { findContent } from '../store/config-contents.ts'
import { listBroughtVersions } from '../store/fleet-config-history.ts'
import { findVersion, type StoredVersion } from '../store/fleet-configs.ts'
import { listWorkloadVariables } from '../store/workload-variables.ts'
import { eachInTurns, mapInTurns, nextTurn, sortInTurns } from '../turns.ts'
import type { CampaignGroup, ValueChoice } from '../wire/campaigns.ts'
import type { AutoApplyParts } from './parts.ts'
import { listProduction } from './plan.ts'

/** Workloads that one statement asks for. */
const CHUNK = 200
/** Workloads that are looked at before other work gets a turn: each may have a hundred variables. */
const TURN = 25
/** Values of a variable that are counted, or compared, before other work gets a turn. */
const VALUES_TURN = 250
/** Ways to choose one value that are kept. */
const CHOICES_MAX = 5

/** Workloads that would come to a version from the same former one, or from the same config of another origin. */
export interface ComingGroup extends GroupPosition {
  instanceCount: number
  productionCount: number
  sample: Workload
  /** The values of the sample's variables. */
  sampleValues: Readonly<Record<string, string>>
  /** How many workloads have each value, by variable; `listValues` brings them into order. */
  counted: Counted
}

/** What a version would become on the workloads under its fleet config, by what these run now. */
export interface ComingGroups {
  version: StoredVersion
  /** Those with production first, then the rarest. */
  groups: readonly ComingGroup[]
}

type Counted = Map<string, Map<string, { count: number; choices: Map<string, ValueChoice> }>>

type Gathered = Omit<ComingGroup, 'rank'>

/**
 * The groups of all workloads that would be under the fleet config by a request, as the fleet is now: also of those that
 * run the version already, for a newcomer gets its values in the same way. Null where there is no such version.
 */
export async function gatherGroups(
  parts: AutoApplyParts,
  asked: StoredAutoApply,
  sees: (workloadId: string) => boolean,
): Promise<ComingGroups | null> {
  const { db } = parts
  const version = await findVersion(db, asked.fleetConfigId, asked.number)
  if (version === null) return null
  const { under } = await listMembersThen(parts, asked.fleetConfigId, asked)
  const seen: Workload[] = []
  const turns = { size: TURN, clock: parts.clock }
  await eachInTurns(under, turns, (workload) => void (sees(workload.id) && seen.push(workload)))
  const production = await listProduction(parts, seen)
  const gathered = new Map<string, Gathered>()
  for (let at = 0; at < seen.length; at += CHUNK) {
    const some = seen.slice(at, at + CHUNK)
    const chosen = await chooseForAll(parts, version, some, production)
    const from = await readFormer(parts, asked.fleetConfigId, some, chosen)
    await eachInTurns(some, turns, (workload) => {
      const isProduction = production.has(workload.id)
      const { values, choices } = chosen.get(workload.id)!
      const key = configHash(`${from.get(workload.id)}`).slice(0, 32)
      const group = gathered.get(key) ?? {
        key,
        count: 0,
        instanceCount: 0,
        productionCount: 0,
        sample: workload,
        sampleValues: values,
        counted: new Map(),
      }
      gathered.set(key, group)
      // The same sample whenever it is asked for.
      if (workload.id < group.sample.id) Object.assign(group, { sample: workload, sampleValues: values })
      group.count++
      group.instanceCount += workload.live.count
      if (isProduction) group.productionCount++
      count(group.counted, values, choices)
    })
    await nextTurn()
  }
  return { version, groups: [...gathered.values()].map(toGroup).sort(inOrder) }
}

type Chosen = ReadonlyMap<string, ReturnType<typeof chooseValues>>

/** The values of a version's variables on each of these workloads, by its id. */
async function chooseForAll(
  { db, clock }: Pick<AutoApplyParts, 'db' | 'clock'>,
  { variables, valueTable }: StoredVersion,
  workloads: readonly Workload[],
  production: ReadonlySet<string>,
): Promise<Chosen> {
  const ids = workloads.map(({ id }) => id)
  const own = await listWorkloadVariables(db, ids)
  const chosen = new Map<string, ReturnType<typeof chooseValues>>()
  await eachInTurns(workloads, { size: TURN, clock }, (workload) => {
    const sources = {
      own: own.get(workload.id)?.values ?? {},
      table: valueTable,
      workload: toSelectable(workload),
      withReported: !production.has(workload.id),
    }
    chosen.set(workload.id, chooseValues(variables, sources))
  })
  return chosen
}

/** What each workload comes from: the version that it runs, else its config, else what it reports to run; as a text. */
async function readFormer(
  { db, configs, clock }: Pick<AutoApplyParts, 'db' | 'configs' | 'clock'>,
  fleetConfigId: string,
  workloads: readonly Workload[],
  chosen: Chosen,
): Promise<Map<string, string>> {
  const hashes = new Map(workloads.map(({ id, activeHash }) => [id, activeHash]))
  const former = new Map(workloads.map(({ id, activeHash }) => [id, `config ${activeHash ?? ''}`]))
  const brought = await listBroughtVersions(db, fleetConfigId, [...hashes.keys()])
  for (const { workloadId: id, resultHash, number } of brought)
    if (resultHash !== null && resultHash === hashes.get(id)) former.set(id, `version ${number}`)
  const reporting = workloads.flatMap((workload) => {
    const report = reportInPlaceOfBase(workload, chosen.get(workload.id)!.values)
    return report === null ? [] : { ...report, id: workload.id }
  })
  const keys = await keyReports({ db, configs, clock }, reporting)
  for (const [at, { id }] of reporting.entries()) former.set(id, `report ${keys[at]}`)
  return former
}

function count(
  counted: Counted,
  values: Readonly<Record<string, string>>,
  choices: Readonly<Record<string, ValueChoice>>,
): void {
  for (const [name, value] of Object.entries(values)) {
    const ofName = counted.get(name) ?? new Map()
    counted.set(name, ofName)
    const one = ofName.get(value) ?? { count: 0, choices: new Map() }
    ofName.set(value, one)
    one.count++
    one.choices.set(JSON.stringify(choices[name]), choices[name]!)
  }
}

const toGroup = (group: Gathered): ComingGroup => ({ ...group, rank: group.productionCount > 0 ? 0 : 1 })

/** The values of a variable in a group, the rarest first; in turns, as each workload may have another one. */
export async function listValues({ counted }: ComingGroup, name: string): Promise<GroupValue[]> {
  const values = await mapInTurns(counted.get(name) ?? [], VALUES_TURN, ([value, { count, choices }]) => ({
    value,
    count,
    choices: [...choices.values()].slice(0, CHOICES_MAX),
    choiceCount: choices.size,
  }))
  return sortInTurns(values, VALUES_TURN, (a, b) => a.count - b.count || compareText(a.value, b.value))
}

const inOrder = (a: GroupPosition, b: GroupPosition): number =>
  a.rank - b.rank || a.count - b.count || compareText(a.key, b.key)

/** The place of a group or value after another one in an order, for pages of a list that is held whole. */
export const isAfter = (one: GroupPosition, after: GroupPosition | null): boolean =>
  after === null || inOrder(one, after) > 0

/** A group as the wire shows it, as those of a campaign's plan. Throws `JudgeBusy`. */
export async function showComing(
  parts: AutoApplyParts,
  version: StoredVersion,
  group: ComingGroup,
): Promise<CampaignGroup> {
  const { sample } = group
  const place = placeOf(sample.fingerprintKeys)
  const variables: CampaignGroup['variables'] = {}
  const more: CampaignGroup['more_values'] = {}
  for (const name of group.counted.keys()) {
    const all = await listValues(group, name)
    variables[name] = all.slice(0, SHOWN_VALUES_MAX).map(toVariable)
    if (all.length > SHOWN_VALUES_MAX) more[name] = all.length - SHOWN_VALUES_MAX
  }
  return {
    key: group.key,
    count: group.count,
    instance_count: group.instanceCount,
    production_count: group.productionCount,
    sample_workload_id: sample.id,
    sample_workload_name: sample.displayName,
    ...(place === '' ? {} : { sample_workload_place: place }),
    ...(await showChange(parts, await readTexts(parts, version, group))),
    variables,
    more_values: more,
  }
}

/** Lines of the diff of a group from a line on; null where the sample would get no config. Throws `JudgeBusy`. */
export async function showMoreComing(
  parts: AutoApplyParts,
  version: StoredVersion,
  group: ComingGroup,
  from: number,
): Promise<SomeLines | null> {
  const texts = await readTexts(parts, version, group)
  return texts === null ? null : readDiff(parts, texts, from)
}

/** What the sample of a group runs, and what it would run; null where it would get no config. */
async function readTexts(
  parts: AutoApplyParts,
  { body, variables }: StoredVersion,
  { sample, sampleValues: values }: ComingGroup,
): Promise<ComparedTexts | null> {
  const { db, configs } = parts
  const answer = await configs.render({ text: body, variables: variables.map(toDeclared), values })
  if (!answer.ok) throw new JudgeBusy()
  if (!answer.rendering.ok) return null
  const { text: result } = answer.rendering
  const { activeHash } = sample
  if (activeHash === null)
    return { ...(await compareWithReport(parts, sample.live.mostReported()?.hash ?? null, result)), result }
  return { base: (await findContent(db, activeHash))?.body ?? '', comparedWith: 'active', result }
}
