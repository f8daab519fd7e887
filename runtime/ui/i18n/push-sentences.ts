import type { Convergence } from '../../../lib/wire/convergence.ts'
import type { Tone } from '../logic/diagnosis.ts'
import { isOpen, isSilent } from '../logic/pushes.ts'
import { say } from './define.ts'
import { formatDuration } from './format.ts'
import { pushTexts } from './push.ts'
import { rolloutTexts } from './rollout.ts'

const join = (parts: readonly string[]): string => parts.filter((part) => part !== '').join(' ')

/** How many instances have not answered a push, and what to do about them; empty where all have. */
export function describeUnanswered(count: number): string {
  const words = say(pushTexts)
  return count === 0 ? '' : `${words.silent(count)} ${words.silentNext}`
}

/** How far a push got, in one sentence, and what to do where that follows from nothing else on the page. */
export function describePush(of: Convergence): { tone: Tone; text: string } {
  const words = say(pushTexts)
  if (of.phase === 'superseded') return { tone: 'idle', text: words.superseded }
  if (of.phase === 'aborted') {
    const { aborted, abortedMore } = say(rolloutTexts)
    return { tone: 'idle', text: `${aborted} ${abortedMore}` }
  }
  const { failed_count: failed, no_status_count: silent, target_count: total } = of
  if (failed > 0) {
    const what = words.someFailed(failed, total)
    // What became of a push that failed as a whole is said by what was done about it.
    if (of.status === 'failed') return { tone: 'bad', text: what }
    return { tone: 'bad', text: join([what, words.failedNext, describeUnanswered(silent)]) }
  }
  if (isSilent(of)) return { tone: 'warn', text: words.nobody(total) }
  if (of.phase === 'no_status') return { tone: 'warn', text: words.noStatus }
  if (of.status === 'applied' && of.times_ms.p100 !== null)
    return { tone: 'ok', text: words.allDone(formatDuration(of.times_ms.p100)) }
  const has = isOpen(of) ? words.running(of.applied_count, total) : words.ended(of.applied_count, total)
  const isMissed = silent > 0 || !isOpen(of)
  return { tone: isMissed ? 'warn' : 'busy', text: join([has, describeUnanswered(silent)]) }
}
