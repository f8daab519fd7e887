import type { WorkloadTrouble } from '../wire/workloads.ts'

const numbers = new Intl.NumberFormat('en-GB')
const n = (count: number): string => numbers.format(count)

/** What is wrong with a workload, in a few English words. */
export const TROUBLE_WORDS = {
  disconnected: 'no instance is connected',
  unhealthy: (count: number, total: number) => `${n(count)} of ${n(total)} unhealthy`,
  unhealthySince: (count: number, total: number, hash: string, since: number) =>
    `${n(count)} of ${n(total)} unhealthy${since < count ? `, ${n(since)}` : ''} since push ${hash}`,
  push_failed: 'config failed, no way back',
  rollback_failed: 'config failed, its rollback as well',
  back_in_part: (count: number, total: number) => `config failed, back on ${n(count)} of ${n(total)}`,
  going_back: 'config failed, going back',
  rollout_halted: 'rollout halted',
  rolled_back: 'config failed, rolled back',
  some_failed: (count: number, total: number) => `${n(count)} of ${n(total)} failed the config`,
  drifted: (count: number, total: number) =>
    `${n(count)} of ${n(total)} ${count === 1 ? 'does' : 'do'} not run the config`,
  altered: (count: number, total: number) =>
    `${n(count)} of ${n(total)} ${count === 1 ? 'runs' : 'run'} another config than asked`,
  degraded: 'reports that something is wrong',
  leaving: 'its last instance left',
  outdated: 'its version is too old',
}

type TroubleWords = typeof TROUBLE_WORDS

/** So much of a hash tells a config from others. */
const HASH_SHOWN = 7

/** What is wrong with a workload, in these words; how many are unhealthy beside that is not said. */
export function sayTrouble(
  words: TroubleWords,
  { kind, count = 0, total = 0, aftermath, under_push: push }: WorkloadTrouble,
): string {
  switch (aftermath?.kind) {
    case 'rollback_failed':
    case 'going_back':
      return words[aftermath.kind]
    case 'went_back_in_part':
      return words.back_in_part(aftermath.applied_count ?? 0, aftermath.target_count ?? 0)
  }
  switch (kind) {
    case 'unhealthy':
    case 'some_unhealthy':
      return push === undefined
        ? words.unhealthy(count, total)
        : words.unhealthySince(count, total, push.config_hash.slice(0, HASH_SHOWN), push.instance_count)
    case 'some_failed':
      return words.some_failed(count, total)
    case 'drifted':
      return words.drifted(count, total)
    case 'altered':
      return words.altered(count, total)
    default:
      // A service that is newer than this may know of more.
      return words[kind] ?? kind
  }
}
