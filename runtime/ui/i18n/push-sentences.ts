import { isOpen, type Split } from '../../../lib/model/workload-states.ts'
import type { Convergence } from '../../../lib/wire/convergence.ts'
import type { RevisionRecord } from '../../../lib/wire/revisions.ts'
import type { Tone } from '../logic/diagnosis.ts'
import { isSilent, sharesOf } from '../logic/pushes.ts'
import { describeGroup } from './causes.ts'
import { say } from './define.ts'
import { formatDuration } from './format.ts'
import { pushTexts } from './push.ts'
import { rolloutTexts } from './rollout.ts'
import { describeSplit, workloadTexts } from './workload.ts'

const join = (parts: readonly string[]): string => parts.filter((part) => part !== '').join(' ')

/** How many instances have not answered a push, and what to do about them; empty where all have. */
export function describeUnanswered(count: number): string {
  const words = say(pushTexts)
  return count === 0 ? '' : `${words.silent(count)} ${words.silentNext}`
}

/** That a rollout was aborted and, as long as that left its workload so, who runs what and what to do. */
export function describeAborted(split: Split | null): [string, string] {
  const { aborted } = say(rolloutTexts)
  return [aborted, split === null ? '' : `${describeSplit(split)}. ${say(workloadTexts).say.splitNext}`]
}

/** How far a push got, in one sentence, and what to do where that follows from nothing else on the page. */
export function describePush(of: Convergence): { tone: Tone; text: string } {
  const words = say(pushTexts)
  if (of.phase === 'superseded') return { tone: 'idle', text: words.superseded }
  if (of.phase === 'aborted') return { tone: 'idle', text: say(rolloutTexts).aborted }
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

/** That some instances cannot run a config, how it is with the others, and what to do. */
export function describeSomeFailed(push: RevisionRecord): [string, string] {
  const words = say(workloadTexts).say
  const { failed, applied, silent, waiting } = sharesOf(push)
  const cause = describeGroup(push.error_groups?.[0])
  return [
    words.someFailed(failed, push.target_count, push.is_rollback),
    join([
      words.someFailedWhy(cause, applied, waiting),
      say(pushTexts).failedNext,
      describeUnanswered(silent),
    ]),
  ]
}
