import type { PushAftermath } from '../wire/revisions.ts'

const SHORT_HASH = 12

/** How far a rollback got: `on 2 of 4 instances; 1 failed (Port in use), 1 has not answered`. */
export function sayReach(
  of: Pick<
    PushAftermath,
    'applied_count' | 'target_count' | 'failed_count' | 'no_status_count' | 'error_title'
  >,
): string {
  const { applied_count: applied = 0, target_count: all = 0, error_title: title } = of
  const { failed_count: failed = 0, no_status_count: silent = 0 } = of
  const rest = [
    ...(failed > 0 ? [`${failed} failed${title === undefined ? '' : ` (${title})`}`] : []),
    ...(silent > 0 ? [`${silent} ${silent === 1 ? 'has' : 'have'} not answered`] : []),
  ].join(', ')
  return `on ${applied} of ${all} ${all === 1 ? 'instance' : 'instances'}${rest === '' ? '' : `; ${rest}`}`
}

/** What was done about a failed push, in English: for alerts, webhooks and the command line; pages say it themselves. */
export function sayAftermath(of: PushAftermath): string {
  const { config_hash: hash = '', running_count: running, error_title: title } = of
  const still = `${running} ${running === 1 ? 'instance runs' : 'instances run'} it still`
  const to = hash.slice(0, SHORT_HASH)
  switch (of.kind) {
    case 'nowhere_to_go':
      return `there was no earlier config to go back to, ${still}`
    case 'rollback_failed':
      return `the rollback to ${to} failed as well${title === undefined ? '' : ` (${title})`}, ${still}`
    case 'went_back_in_part':
      return `the rollback to ${to} was applied ${sayReach(of)}`
    case 'going_back':
      return `it is being rolled back to ${to}`
    case 'went_back':
      return `it was rolled back to ${to}`
    case 'overtaken':
      return 'another push took its place'
  }
}
