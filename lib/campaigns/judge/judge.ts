import { type ComponentRef, componentAvailability } from '../../configs/check/components.ts'
import type { ConfigTarget } from '../../configs/check/target.ts'
import type { ConfigPatch } from '../../configs/patch/patch.ts'
import { policyForWorkload } from '../../configs/policy/policy.ts'
import { obstacleOf, type PushObstacle } from '../../fleet/decide/push-obstacle.ts'
import { hasCapableInstance } from '../../fleet/pushes/push-plan.ts'
import type { Workload } from '../../fleet/state/model.ts'
import { hasFailedSomewhere } from '../../fleet/state/state.ts'
import { toDeclared } from '../../fleet-configs/read-version.ts'
import { chooseValues } from '../../fleet-configs/values.ts'
import { configHash } from '../../model/config-hash.ts'
import { environmentOf } from '../../model/labels.ts'
import { isProductionByLabels } from '../../model/production.ts'
import { isUnmanaged } from '../../model/unmanaged.ts'
import { toSelectable } from '../../selectors/selector.ts'
import type { StoredCampaignTarget } from '../../store/campaign-targets.ts'
import type { StoredCampaign, StoredChange } from '../../store/campaigns.ts'
import { findContent } from '../../store/config-contents.ts'
import { findVersion, type StoredVersion } from '../../store/fleet-configs.ts'
import { listManagedConfigs } from '../../store/managed-configs.ts'
import { listWorkloadVariables } from '../../store/workload-variables.ts'
import type { CampaignPatch, CampaignReason, CampaignVerdict, ValueChoice } from '../../wire/campaigns.ts'
import type { CampaignParts } from './parts.ts'
import { openScope } from './scope.ts'

/** What a campaign would do with one workload, as both stand now. */
export interface Judgement {
  verdict: CampaignVerdict
  reason: CampaignReason | null
  baseHash: string | null
  /** The config that the workload would run; null where none was worked out. */
  result: {
    hash: string
    text: string
    values: Readonly<Record<string, string>>
    choices?: Choices
  } | null
  /** Every component that the result uses; empty unless it is to be pushed. */
  required: readonly ComponentRef[]
  isProduction: boolean
  /** The variable that a refusal is about; absent where it is about none. */
  variable?: string
  /** What a refusal is about, in English; absent where the reason says all. */
  detail?: string
  /** The components that the result needs and the workload does not have, as `processors.batch`; absent for none. */
  missing?: readonly string[]
}

/**
 * The config workers are busy, or took too long over a text. Nothing is known of the workload; the caller asks again.
 */
export class JudgeBusy extends Error {
  override readonly name = 'JudgeBusy'
  /** Whether they took too long over a text, as they would do again. */
  readonly gaveUp: boolean

  constructor({ gaveUp = false }: { gaveUp?: boolean } = {}) {
    super()
    this.gaveUp = gaveUp
  }
}

type Checked =
  | { ok: true; required: readonly ComponentRef[] }
  | { ok: false; reason: 'invalid' }
  | { ok: false; reason: 'component_missing'; missing: readonly string[] }

/** What chose the values of variables, by name. */
type Choices = Readonly<Record<string, ValueChoice>>

/** The config that a workload would run by a change, or why there is none. */
export type CampaignResult =
  | {
      ok: true
      hash: string
      text: string
      /** The values of its variables, by name. */
      values: Readonly<Record<string, string>>
      choices?: Choices
      /** Places, as paths, that name a component which a patch renames and that stay as they are. */
      otherMatches: readonly string[]
    }
  | {
      ok: false
      verdict: 'unmanaged' | 'refused'
      reason: CampaignReason | null
      /** The variable that the refusal is about. */
      variable?: string
      /** What the refusal is about, in English; absent where the reason says all. */
      detail?: string
    }

/** The verdict and reason in a plan for a workload whose push this would keep from beginning. */
const LEFT: Readonly<Record<PushObstacle, readonly [CampaignVerdict, CampaignReason]>> = {
  archived: ['refused', 'archived'],
  frozen: ['held', 'frozen'],
  held: ['held', 'held'],
  'kept-in-git': ['refused', 'kept_in_git'],
  busy: ['refused', 'busy'],
  quarantined: ['quarantined', 'quarantined'],
}

/** The change that workloads are judged for: of a campaign, or of a version that applies by itself. */
export interface JudgedChange extends Pick<StoredCampaign, 'change' | 'scope'> {
  rules: Pick<StoredCampaign['rules'], 'retryQuarantined'>
  /**
   * Set where the change goes out without a plan that somebody looks at: labels that agents report then fill no
   * variables of production workloads, nor of those in `production`, which count as such whatever their labels say. A
   * workload whose values the approval does not cover is left to campaigns.
   */
  byItself?: { production: ReadonlySet<string>; coversValues: CoversValues }
}

/**
 * Whether what was approved covers the values that a workload has now; `ownSetAt` is when its own ones were last set,
 * null where they never were.
 */
export type CoversValues = (
  workload: Workload,
  version: StoredVersion,
  ownSetAt: Date | null,
) => Promise<boolean>

/** What a plan keeps of how a target changes. */
export type PlannedChange = Pick<StoredCampaignTarget, 'baseHash' | 'resultHash' | 'variables'>

/** Results of checks that a judge remembers at most, and as many results of the config policy. */
const VERDICTS_MAX = 2_000
/**
 * Texts, and rendered or patched configs, that a judge remembers at most. They serve workloads that get equal texts;
 * where all texts differ, remembering them saves nothing.
 */
const TEXTS_MAX = 50

/**
 * Judges workloads for a change: for its plan, and again when a workload's turn comes. It remembers results, so it is
 * made anew for each plan and for each round of starts.
 */
export class CampaignJudge {
  readonly #parts: CampaignParts
  readonly #campaign: JudgedChange
  /** Whether the campaign's scope selects a workload, excludes it, or does neither. */
  readonly scopeOf: ReturnType<typeof openScope>
  readonly #checks = new Map<string, Promise<Checked>>()
  readonly #policies = new Map<string, Promise<boolean>>()
  readonly #results = new Map<string, Promise<CampaignResult>>()
  #version: Promise<StoredVersion | null> | null = null
  /** The owners in Git by workload id; read once for all workloads. */
  #keptInGit: Promise<ReadonlyMap<string, string>> | null = null
  readonly #bases = new Map<string, Promise<string | null>>()

  constructor(parts: CampaignParts, campaign: JudgedChange) {
    this.#parts = parts
    this.#campaign = campaign
    this.scopeOf = openScope(
      parts,
      campaign.scope,
      campaign.change.kind === 'version' ? campaign.change.fleet_config_id : null,
    )
  }

  /** Judge one workload. Throws `JudgeBusy` and `DatabaseUnavailable`. */
  async judge(workload: Workload): Promise<Judgement> {
    const { labels, trustedLabels } = workload
    const known = {
      baseHash: workload.activeHash,
      isProduction: isProductionByLabels({ labels, trustedLabels }),
      required: [],
    }
    const leave = (
      verdict: CampaignVerdict,
      reason: CampaignReason | null = null,
      result: Judgement['result'] = null,
    ) => ({ ...known, verdict, reason, result })
    const found = await this.#obstacleOf(workload, null)
    if (found !== null) {
      const isReserved = found === 'held' || found === 'frozen'
      const who = isReserved ? (this.#parts.whoReserves?.(workload) ?? null) : null
      return { ...leave(...LEFT[found]), ...(who === null ? {} : { detail: `${who.by}: ${who.reason}` }) }
    }
    if (!workload.acceptsRemoteConfig) return leave('refused', 'read_only')
    const result = await this.resultFor(workload)
    if (!result.ok) {
      const { verdict, reason, variable, detail = variable } = result
      return {
        ...leave(verdict, reason),
        ...(variable === undefined ? {} : { variable }),
        ...(detail === undefined ? {} : { detail }),
      }
    }
    const { hash } = result
    if (hash === workload.activeHash) return leave('same', null, result)
    const failed = await this.#obstacleOf(workload, hash)
    if (failed !== null) return leave(...LEFT[failed], result)
    const target = await this.#parts.configTargets.find(workload.id)
    if (target === null) return leave('refused', 'workload_gone')
    const checked = await this.#check(result, target, workload)
    if (!checked.ok) {
      const left = leave('refused', checked.reason, result)
      if (checked.reason === 'invalid') return left
      return { ...left, missing: checked.missing, detail: checked.missing.join(', ') }
    }
    if (await this.#isBlocked(result, target, workload, known.isProduction))
      return leave('refused', 'policy_blocked', result)
    const verdict = hasCapableInstance(workload) ? 'changes' : 'offline'
    return { ...known, verdict, reason: null, result, required: checked.required }
  }

  /** The text of a config that muster pushed; null when it is not kept any more. */
  textOf(hash: string): Promise<string | null> {
    return once(
      this.#bases,
      TEXTS_MAX,
      hash,
      async () => (await findContent(this.#parts.db, hash))?.body ?? null,
    )
  }

  /**
   * What would keep a push of this config from beginning, or of any config where `hash` is null. Whether the workload is
   * busy is not asked: by its turn that may be over.
   */
  async #obstacleOf(workload: Workload, hash: string | null): Promise<PushObstacle | null> {
    const { reservationOf, db } = this.#parts
    this.#keptInGit ??= listManagedConfigs(db, { owner: null, workloadId: null }).then(
      (kept) => new Map(kept.map(({ workloadId, owner }) => [workloadId, owner])),
    )
    const reservation = reservationOf(workload)
    const owner = (await this.#keptInGit).get(workload.id)
    const facts = {
      isArchived: workload.archivedAt !== null,
      frozenFor: reservation === 'frozen' ? '' : null,
      isHeld: reservation === 'held',
      keeper: owner === undefined ? null : ({ owner, by: 'workload' } as const),
      isBusy: false,
      isQuarantined: hash !== null && hasFailedSomewhere(workload, hash),
    }
    const exemptions = { retriesQuarantined: this.#campaign.rules.retryQuarantined }
    return obstacleOf('campaign', facts, exemptions)?.obstacle ?? null
  }

  /** The config that a workload would run. */
  async resultFor(workload: Workload): Promise<CampaignResult> {
    const { change } = this.#campaign
    const base = workload.activeHash
    if (isUnmanaged(workload) && !(change.kind !== 'patch' && change.takeover === true))
      return { ok: false, verdict: 'unmanaged', reason: null }
    const { configId } = this.#parts.fleetConfigs.membershipOf(workload)
    if (change.kind === 'version')
      return configId === change.fleet_config_id
        ? this.#rendered(workload, change)
        : { ok: false, verdict: 'refused', reason: 'not_under_fleet_config' }
    // A workload under a fleet config gets its config from there: only a version of that fleet config may change it.
    if (configId !== null) return { ok: false, verdict: 'refused', reason: 'under_fleet_config' }
    return this.#carried(change, base)
  }

  /**
   * What a plan found that a target would run, whatever its workload has by now: its text, with the places that a patch
   * leaves. Null where that is known no more.
   */
  async plannedResult({
    baseHash,
    resultHash,
    variables,
  }: PlannedChange): Promise<Pick<Extract<CampaignResult, { ok: true }>, 'text' | 'otherMatches'> | null> {
    const { change } = this.#campaign
    // Of one that ended long ago the text is forgotten.
    if (change.kind !== 'version' && !('yaml' in change) && !('patch' in change)) return null
    const again = await this.#madeAgain({ baseHash, variables })
    if (again?.ok && again.hash === resultHash) return again
    const text = resultHash === null ? null : await this.textOf(resultHash)
    return text === null ? null : { text, otherMatches: [] }
  }

  /** The same change to the same base, with the same values. */
  async #madeAgain({
    baseHash,
    variables,
  }: Omit<PlannedChange, 'resultHash'>): Promise<CampaignResult | null> {
    const { change } = this.#campaign
    if (change.kind === 'version') {
      const version = await this.#versionOf(change.fleet_config_id, change.number)
      return version === null ? null : this.#render(version, variables)
    }
    return this.#carried(change, baseHash)
  }

  /** The text that a campaign carries, or its patch applied to a config. */
  #carried(
    change: Exclude<StoredChange, { kind: 'version' }>,
    baseHash: string | null,
  ): CampaignResult | Promise<CampaignResult> {
    const { patch, yaml, hash } = { patch: undefined, yaml: undefined, ...change }
    if (patch !== undefined && baseHash !== null) return this.#patched(baseHash, patch)
    // Of one that ended long ago the text is forgotten.
    if (yaml === undefined) return { ok: false, verdict: 'refused', reason: 'base_content_gone' }
    return { ok: true, hash, text: yaml, values: {}, otherMatches: [] }
  }

  #versionOf(configId: string, number: number): Promise<StoredVersion | null> {
    this.#version ??= findVersion(this.#parts.db, configId, number)
    return this.#version
  }

  /** A version with the values of one workload in it. */
  async #rendered(
    workload: Workload,
    { fleet_config_id: configId, number }: Extract<StoredChange, { kind: 'version' }>,
  ): Promise<CampaignResult> {
    const { db } = this.#parts
    const version = await this.#versionOf(configId, number)
    if (version === null) return { ok: false, verdict: 'refused', reason: 'version_gone' }
    const own = (await listWorkloadVariables(db, [workload.id])).get(workload.id)
    const { byItself } = this.#campaign
    const isStrict = byItself !== undefined && isProductionIn(byItself.production, workload)
    const sources = {
      own: own?.values ?? {},
      table: version.valueTable,
      workload: toSelectable(workload),
      withReported: !isStrict,
    }
    const { values, choices } = chooseValues(version.variables, sources)
    const isCovered =
      byItself === undefined ||
      version.variables.length === 0 ||
      (await byItself.coversValues(workload, version, own?.updatedAt ?? null))
    if (!isCovered) return { ok: false, verdict: 'refused', reason: 'variables_changed' }
    const found = await this.#render(version, values)
    // Two workloads may get one value by different labels.
    return found.ok ? { ...found, choices } : found
  }

  /** A version with these values in it; worked out once for all workloads that have the same. */
  #render(version: StoredVersion, values: Readonly<Record<string, string>>): Promise<CampaignResult> {
    const variables = version.variables.map(toDeclared)
    return once(this.#results, TEXTS_MAX, JSON.stringify(values), async () => {
      const answer = await this.#parts.configs.render({ text: version.body, variables, values })
      if (!answer.ok) throw new JudgeBusy(answer)
      const { rendering } = answer
      if (rendering.ok)
        return {
          ok: true,
          hash: configHash(rendering.text),
          text: rendering.text,
          values,
          otherMatches: [],
        } as const
      const { code, variable } = rendering.problem
      const reason = code === 'variable_missing' || code === 'variable_invalid' ? code : ('invalid' as const)
      const refused = { ok: false, verdict: 'refused', reason } as const
      return variable === undefined ? refused : { ...refused, variable }
    })
  }

  /** A patch applied to a config; worked out once for all workloads that run this config. */
  #patched(base: string, patch: CampaignPatch): Promise<CampaignResult> {
    return once(this.#results, TEXTS_MAX, base, async () => {
      const text = await this.textOf(base)
      if (text === null) return { ok: false, verdict: 'refused', reason: 'base_content_gone' } as const
      const found = await this.#parts.configs.patch(text, patch as ConfigPatch)
      if (!found.ok) throw new JudgeBusy(found)
      const { patching } = found
      if (!patching.ok) {
        const { code, message } = patching.problem
        return { ok: false, verdict: 'refused', reason: code, detail: message } as const
      }
      const { text: after, otherMatches } = patching
      return { ok: true, hash: configHash(after), text: after, values: {}, otherMatches } as const
    })
  }

  /**
   * Whether a workload can run the result, by the checks of any push; checked once for all workloads with the same
   * components.
   */
  #check(result: { hash: string; text: string }, target: ConfigTarget, workload: Workload): Promise<Checked> {
    const lists = new Set<string>()
    for (const instance of workload.live.instances())
      lists.add(`${instance.componentsHash}/${instance.isExcluded}/${instance.capabilities}`)
    const key = [
      ...[
        result.hash,
        target.version,
        workload.availableComponents?.hash ?? '',
        target.instances.length === 0,
      ],
      ...[...lists].sort(),
      target.instances.some(({ runsProfiles }) => runsProfiles),
    ].join('\n')
    return once(this.#checks, VERDICTS_MAX, key, async () => {
      const found = await this.#parts.configs.validate(result.text, {
        target,
        requestedVersion: '',
        minimumVersion: this.#parts.config.runtimeValidation.minVersion,
        validatedAt: this.#parts.clock.now(),
      })
      if (!found.ok) throw new JudgeBusy(found)
      if (found.result.valid) return { ok: true, required: found.required }
      const isMissing = found.result.checks.some(
        ({ id, status }) => id === 'component_availability' && status === 'failed',
      )
      if (!isMissing) return { ok: false, reason: 'invalid' }
      return { ok: false, reason: 'component_missing', missing: listMissing(found.required, target) }
    })
  }

  #isBlocked(
    result: { hash: string; text: string },
    target: ConfigTarget,
    workload: Workload,
    isProd: boolean,
  ): Promise<boolean> {
    const environment = environmentOf(workload.trustedLabels, workload.labels)
    const key = [result.hash, workload.activeHash, isProd, environment].join('\n')
    return once(this.#policies, VERDICTS_MAX, key, async () => {
      const current = workload.activeHash === null ? null : await this.textOf(workload.activeHash)
      const approval = { targetEnv: '', targetGroup: '' }
      const texts = { candidate: result.text, current }
      const found = await this.#parts.configs.policy(
        policyForWorkload(target, texts, approval, this.#parts.config.policy),
      )
      if (!found.ok) throw new JudgeBusy(found)
      return found.evaluation.decision === 'block'
    })
  }
}

/** The types that a workload does not have of what a config needs, each once, in the order of the config. */
function listMissing(required: readonly ComponentRef[], target: ConfigTarget): string[] {
  const { missing } = componentAvailability(required, target)
  return [...new Set(missing.map(({ category, type }) => `${category}.${type}`))]
}

/**
 * Ask once for each key, and remember the newest `most` answers. A failure is not remembered, unless the workers took
 * too long: each further workload with the same text would hold a thread of theirs for as long.
 */
function once<T>(
  known: Map<string, Promise<T>>,
  most: number,
  key: string,
  ask: () => Promise<T>,
): Promise<T> {
  const before = known.get(key)
  if (before !== undefined) return before
  const asked = ask()
  known.set(key, asked)
  for (const oldest of known.keys()) {
    if (known.size <= most) break
    known.delete(oldest)
  }
  asked.catch((error) => {
    if (!(error instanceof JudgeBusy && error.gaveUp)) known.delete(key)
  })
  return asked
}

/** Whether a workload counts as production, by its labels or because it is listed. */
const isProductionIn = (listed: ReadonlySet<string>, { id, labels, trustedLabels }: Workload): boolean =>
  listed.has(id) || isProductionByLabels({ labels, trustedLabels })
