import { type AboutError, onlyAbout } from '../../model/alert-about.ts'
import type { ToldFailure } from '../../store/pushes.ts'
import type { Workload } from '../state/model.ts'
import { type TextAccess, whyOf } from './errors.ts'
import { firstFailureOf } from './first-failure.ts'

/**
 * Why a push of a workload failed, as far as the fleet still knows it: by the push itself, or by what took it back. Null
 * where another push has come since.
 */
function failureOf(workload: Workload, pushId: string): ToldFailure | null {
  const { newestPush: newest } = workload
  if (newest === null) return null
  if (newest.pushId === pushId) return newest.error ?? firstFailureOf(workload, newest)?.error ?? null
  return newest.rollbackOfPushId === pushId ? newest.failedError : null
}

/** What the failure of a push is about, and what the instance says of it itself, as far as the reader may know it. */
export function aboutFailure(workload: Workload | null, pushId: string, texts: TextAccess): AboutError {
  return workload === null ? {} : onlyAbout(whyOf(failureOf(workload, pushId), texts))
}
