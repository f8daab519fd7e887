import { signal } from '@preact/signals'

type SayProblem = typeof import('../i18n/problems.ts').sayProblem

const words = signal<SayProblem | null>(null)

/** Fetch the words of all refusals, behind what is shown first. Where they do not come, the server's own are told. */
export function loadRefusals(): void {
  import('../i18n/problems.ts').then(
    (part) => {
      words.value = part.sayProblem
    },
    () => undefined,
  )
}

/** A refusal in the reader's words; null where its code is not known here, or the words have not come yet. */
export const sayRefusal: SayProblem = (code, body) => words.value?.(code, body) ?? null
