import { say } from '../i18n/define.ts'
import { shellTexts } from '../i18n/shell.ts'
import { can } from '../state/session.ts'

/** Parts that only some editions have; `shellTexts` names them. */
export type EditionPart = keyof ReturnType<typeof partsNow>
const partsNow = () => say(shellTexts).editionParts

/** One line that says which of these parts this edition lacks; nothing where it has them all. */
export function EditionLine({ parts }: { parts: readonly EditionPart[] }) {
  const missing = parts.filter((part) => !can(`config_safety.${part}`))
  if (missing.length === 0) return null
  const words = say(shellTexts)
  return (
    <p class="faint edition-line">
      {words.editionLacks(missing.map((part) => words.editionParts[part]).join(', '))}
    </p>
  )
}
