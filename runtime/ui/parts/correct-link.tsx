import { say } from '../i18n/define.ts'
import { workloadTexts } from '../i18n/workload.ts'
import { may } from '../state/session.ts'
import { ActionLink, unless } from './controls.tsx'

/**
 * To the editor with the text that failed: most repairs change a few words of it. For whoever may not read that text, to
 * the editor as it opens.
 */
export function CorrectLink({ workloadId, hash }: { workloadId: string; hash: string }) {
  const words = say(workloadTexts)
  const canRead = may('config:read_content')
  return (
    <ActionLink
      kind="primary"
      href={`/workloads/${workloadId}/change${canRead ? `?hash=${hash}` : ''}`}
      reason={unless('config:request')}
    >
      {canRead ? words.see.correct : words.propose}
    </ActionLink>
  )
}
