import { unifiedDiff } from '../changes/unified-diff.ts'
import { configHash } from '../model/config-hash.ts'
import type { CampaignJudge, Judgement } from './judge.ts'

/** Longest diff that is compared whole. */
const COMPARED_LENGTH_MAX = 1_000_000
/** Longest diff that is shown. */
const SHOWN_LENGTH_MAX = 20_000

const LABELS = { before: 'base', after: 'result' }

/** Finds out which workloads of a plan change in the same way. */
export class ChangeGroups {
  readonly #judge: CampaignJudge
  /** By base and result. */
  readonly #keys = new Map<string, string>()

  constructor(judge: CampaignJudge) {
    this.#judge = judge
  }

  /**
   * What the configs of workloads that change in the same way have in common: the lines that go and come, wherever
   * they stand. Null when nothing is to be pushed.
   */
  async keyOf({ baseHash, result }: Judgement): Promise<string | null> {
    if (result === null) return null
    const pair = `${baseHash}\n${result.hash}`
    const known = this.#keys.get(pair)
    if (known !== undefined) return known
    const base = baseHash === null ? '' : await this.#judge.textOf(baseHash)
    const changed =
      base === null ? pair : changedLines(unifiedDiff(base, result.text, LABELS, COMPARED_LENGTH_MAX).text)
    const key = configHash(changed).slice(0, 32)
    this.#keys.set(pair, key)
    return key
  }
}

/** The lines of a diff that go or come, without the places where they stand. */
const changedLines = (diff: string): string =>
  diff
    .split('\n')
    .slice(2)
    .filter((line) => line.startsWith('-') || line.startsWith('+'))
    .join('\n')

/** The diff of one workload of a group, as it is shown. */
export const showDiff = (base: string | null, result: string): string =>
  unifiedDiff(base ?? '', result, LABELS, SHOWN_LENGTH_MAX).text
