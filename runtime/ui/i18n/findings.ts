import type { RollbackPrepare } from '../../../lib/wire/rollback.ts'
import { findingTexts, translated } from './check-findings.ts'
import { say } from './define.ts'
import { sayProblem } from './problems.ts'

type Finding = Pick<RollbackPrepare['validation']['findings'][number], 'code' | 'message' | 'source'>

/**
 * What stands in the way of a rollback, in the reader's language: a reason to refuse the workload, or what the checks of
 * the config found.
 */
export function sayFinding({ code, message, source }: Finding): string {
  const refused = source === 'remote_config' ? sayProblem(code, {}) : null
  return refused ?? translated(say(findingTexts), code, message)
}
