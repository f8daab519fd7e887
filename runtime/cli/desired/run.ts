import type { DesiredResult, ManagedConfigRecord } from '../../../lib/wire/desired.ts'
import type { ConfigDiff } from '../../../lib/wire/diff.ts'
import type { FleetConfigRecord } from '../../../lib/wire/fleet-configs.ts'
import type { RevisionRecord } from '../../../lib/wire/revisions.ts'
import type { WorkloadRecord } from '../../../lib/wire/workloads.ts'
import type { Arguments, ClientIo, Option } from '../command.ts'
import { EXIT, WrongArguments } from '../exit-codes.ts'
import { OUTPUT_OPTION, printJson, toLine } from '../output.ts'
import { type Api, openApi, patient, refusesThisOne, URL_OPTION } from '../server/api.ts'
import { authorsOf, readCommit } from './commit.ts'
import { readDesiredState } from './documents.ts'
import { type FleetStep, listKeptFleets, pruneFleets, release, takeFleetStep } from './fleet-steps.ts'
import { nameOf, print } from './print.ts'
import { findTargets, type Target, type Unclear } from './targets.ts'

/** The options that `muster plan` and `muster apply` have in common. */
export const DESIRED_OPTIONS: readonly Option[] = [
  URL_OPTION,
  OUTPUT_OPTION,
  { name: '--owner', value: 'NAME', says: 'who keeps these configs, such as the name of the repository' },
  { name: '--again', says: 'ask again for what is held' },
  {
    name: '--empty',
    says: 'the folder holds nothing any more: with --prune all that the owner keeps is let go of',
  },
  { name: '--exit-code', says: 'end with 4 where not everything is as the folder says' },
]

/** What is done, or would be, about one workload. */
export interface Step {
  kind: 'WorkloadConfig'
  /** Its name; what the document says of it where that means none for sure. */
  workload: string
  /** Empty where the document has no id and its labels mean none for sure. */
  workload_id: string
  /** `leftover` is one that the owner keeps and that the folder does not hold. */
  action: DesiredResult['action'] | 'refused' | 'leftover' | 'released'
  reason?: string
  active_config_hash?: string
  config_hash?: string
  approval_id?: string
  unknown_authors?: readonly string[]
  /** What would change in meaning, a sentence each; only in a plan, and where the token may read what is active. */
  changes?: readonly string[]
  /** Nothing was pushed there yet: a plan has nothing to compare with. */
  not_compared?: true
}

/**
 * Compare a folder with what a service has active, and with `isDryRun` false request what differs. Resolves with the
 * exit code.
 */
export async function runDesired(args: Arguments, io: ClientIo, isDryRun: boolean): Promise<number> {
  const folder = args.positionals[0]!
  const owner = args.text('owner')
  if (owner === undefined) throw new WrongArguments('say who keeps these configs: --owner NAME')
  const isEmpty = args.isSet('empty')
  if (isEmpty && !isDryRun && !args.isSet('prune')) throw new WrongArguments('--empty goes with --prune')
  const state = await readDesiredState(folder, isEmpty)
  const api = patient(await openApi(args, io))
  const workloads = await api.get<WorkloadRecord[]>('/api/workloads?include_archived=true')
  const { targets, unclear } = findTargets(
    state.workloads,
    workloads.filter(({ archived_at: at }) => !at),
  )
  const commit = await readCommit(folder, args, io.env)
  const { sha, author } = commit
  if (commit.isShallow)
    io.error('The checkout lacks older commits, so who wrote a file may be unknown: fetch them all.\n')
  const common = {
    owner,
    commit_sha: sha,
    commit_author: author,
    again: args.isSet('again'),
    dry_run: isDryRun,
  }
  const kept = await readKept(api, owner)
  const withAuthors = async (document: { files: readonly string[] }, ranSha: string | undefined) => ({
    ...common,
    commit_authors: await authorsOf({ files: document.files, ranSha }, commit, io.env),
  })
  const steps: (Step | FleetStep)[] = []
  const tell = () => {
    // The steps say of themselves whom of their authors nobody knows.
    if (args.text('output') === 'json') return printJson(io, { owner, commit: sha, steps })
    print(io, steps, state.others)
    io.error(tellUnknown(steps))
  }
  steps.push(...unclear.map(refuse))
  const isPruned = args.isSet('prune') && !isDryRun
  try {
    await takeAll(api, steps, { owner, state, targets, unclear, workloads, kept, isPruned, withAuthors })
  } catch (error) {
    // What was requested before stands, and nobody would know of it.
    if (steps.length > 0) tell()
    throw error
  }
  tell()
  if (steps.some(({ action }) => action === 'refused')) return EXIT.refused
  const isSettled = steps.every(
    (step) => step.action === 'unchanged' && (!isDryRun || !changesDefinition(step)),
  )
  return args.isSet('exit-code') && !isSettled ? EXIT.differs : EXIT.done
}

const NAMES_SHOWN = 5

/** That muster does not know some authors, who may so approve what they wrote; empty where it knows all. */
function tellUnknown(steps: readonly (Step | FleetStep)[]): string {
  const about = steps.filter(({ unknown_authors: unknown = [] }) => unknown.length > 0)
  if (about.length === 0) return ''
  const names = tellSome(about.flatMap(({ unknown_authors: unknown = [] }) => unknown))
  const of = tellSome(about.map(nameOf))
  return `${toLine(`Nobody is called so in muster, so whoever they are may approve what changes for ${of}: ${names}`)}\n`
}

/** The first of these, each once, and how many more there are. */
function tellSome(all: readonly string[]): string {
  const each = [...new Set(all)]
  const more = each.length > NAMES_SHOWN ? ` and ${each.length - NAMES_SHOWN} more` : ''
  return `${each.slice(0, NAMES_SHOWN).join(', ')}${more}`
}

/** What a folder means for the service. */
interface Wanted {
  owner: string
  state: Awaited<ReturnType<typeof readDesiredState>>
  targets: readonly Target[]
  unclear: readonly Unclear[]
  workloads: readonly WorkloadRecord[]
  kept: Kept
  isPruned: boolean
  /** `ranSha`: the commit whose text runs, where the service knows one. */
  withAuthors(
    document: { files: readonly string[] },
    ranSha: string | undefined,
  ): Promise<Parameters<typeof takeFleetStep>[2]>
}

/** What the service says that the owner keeps in Git. */
interface Kept {
  workloads: readonly ManagedConfigRecord[]
  fleets: readonly FleetConfigRecord[]
}

const readKept = async (api: Api, owner: string): Promise<Kept> => ({
  workloads: await api.get<ManagedConfigRecord[]>(`/api/managed-configs?owner=${encodeURIComponent(owner)}`),
  fleets: await listKeptFleets(api, owner),
})

/** Do one after the other, and add each to the steps as soon as it is done. */
async function takeAll(
  api: Api,
  steps: (Step | FleetStep)[],
  { owner, state, targets, unclear, workloads, kept, isPruned, withAuthors }: Wanted,
): Promise<void> {
  // Where Git cannot say who made one of them, nothing is requested.
  const said: Awaited<ReturnType<typeof withAuthors>>[] = []
  for (const { workload, document } of targets) {
    const own = kept.workloads.find(({ workload_id: id }) => id === workload.id)
    said.push(await withAuthors(document, own?.ran_commit_sha))
  }
  for (const document of state.fleets) {
    const own = kept.fleets.find(({ name }) => name === document.name)
    said.push(await withAuthors(document, own?.managed?.ran_commit_sha))
  }
  for (const [at, target] of targets.entries()) steps.push(await takeStep(api, target, said[at]!))
  for (const [at, document] of state.fleets.entries())
    steps.push(await takeFleetStep(api, document, said[targets.length + at]!))
  // An unclear document may mean any workload that is kept: none is let go before it is known.
  const mayMean = [
    ...targets,
    ...unclear.flatMap(({ candidates }) => candidates.map((workload) => ({ workload }))),
  ]
  const isAllPruned = isPruned && unclear.length === 0
  steps.push(...(await prune(api, { owner, kept: kept.workloads, mayMean, workloads }, isAllPruned)))
  steps.push(...(await pruneFleets(api, { owner, kept: kept.fleets, documents: state.fleets }, isPruned)))
}

/** Whether something of a fleet config itself is another in the folder: `apply` stores that at once. */
const changesDefinition = (step: Step | FleetStep): boolean =>
  step.kind === 'FleetConfig' && (step.definition_changes ?? []).length > 0

/** What is said of a document that means no workload for sure: nothing is asked of the service. */
function refuse({ document: { workload }, reason }: Unclear): Step {
  const [name, id] =
    'id' in workload
      ? [workload.id, workload.id]
      : [
          Object.entries(workload.labels)
            .map((pair) => pair.join('='))
            .join(', '),
          '',
        ]
  return { kind: 'WorkloadConfig', workload: name, workload_id: id, action: 'refused', reason }
}

async function takeStep(
  api: Api,
  { workload, document }: Target,
  common: { dry_run: boolean },
): Promise<Step> {
  const about = { kind: 'WorkloadConfig', workload: workload.display_name, workload_id: workload.id } as const
  try {
    const body = { ...common, config: document.config }
    const result = await api.post<DesiredResult>(`/api/workloads/${workload.id}/config/desired`, body)
    const changes = common.dry_run ? await readChanges(api, document.config, result) : null
    const isFirst = common.dry_run && result.action === 'propose' && result.active_config_hash === undefined
    return {
      ...about,
      ...result,
      ...(changes === null ? {} : { changes }),
      ...(isFirst ? { not_compared: true } : {}),
    }
  } catch (error) {
    // A refused document does not keep the others from being requested; a service that does not answer ends the run.
    if (!refusesThisOne(error)) throw error
    const reason = `${document.place}: ${error.message}`
    return { ...about, action: 'refused', reason }
  }
}

/**
 * What a config would change in meaning; null where nothing changes, or where the token may not read what is active.
 */
async function readChanges(api: Api, config: string, result: DesiredResult): Promise<string[] | null> {
  const { workload_id: id, active_config_hash: hash, action } = result
  if (action === 'unchanged' || hash === undefined) return null
  try {
    const { content } = await api.get<RevisionRecord>(`/api/workloads/${id}/configs/${hash}`)
    if (content === undefined) return null
    const texts = { base_yaml: content, target_yaml: config, context: { workload_id: id } }
    const { human_summary: lines } = await api.post<ConfigDiff>('/api/configs/diff', texts)
    return lines.flatMap(({ kind, risk, text }) => (kind === 'unchanged' ? [] : [`${text} (${risk})`]))
  } catch (error) {
    if (refusesThisOne(error)) return null
    throw error
  }
}

/**
 * A step for each workload whose config the owner keeps and the folder holds no more. With `isWanted` (`--prune`) they
 * are released, so that people can change them again.
 */
async function prune(
  api: Api,
  {
    owner,
    kept,
    mayMean,
    workloads,
  }: Pick<Wanted, 'owner' | 'workloads'> & {
    kept: Kept['workloads']
    mayMean: readonly Pick<Target, 'workload'>[]
  },
  isWanted: boolean,
): Promise<Step[]> {
  const left = kept.filter(({ workload_id: id }) => !mayMean.some(({ workload }) => workload.id === id))
  const steps: Step[] = []
  for (const { workload_id: id, config_hash: hash } of left) {
    const found = workloads.find((one) => one.id === id)
    const workload = found?.display_name ?? id
    const active = found?.active_config_hash
    const path = `/api/workloads/${id}/config/desired?owner=${encodeURIComponent(owner)}`
    steps.push({
      kind: 'WorkloadConfig',
      workload,
      workload_id: id,
      config_hash: hash,
      ...(active === undefined ? {} : { active_config_hash: active }),
      ...(isWanted ? await release(api, path, workload) : { action: 'leftover' }),
    })
  }
  return steps
}
