/** What a refusal says beside its code, by the names that the wire has for it. */
export type RefusalDetails = Readonly<Record<string, string | number>>

/** An expected failure. Its details are part of the answer, and fill the sentence that belongs to its code. */
export interface Refusal<Code extends string> {
  ok: false
  code: Code
  details?: RefusalDetails
}

/** Refuse with a code and what there is to say about it. */
export const refuse = <Code extends string>(code: Code, details: RefusalDetails = {}): Refusal<Code> => ({
  ok: false,
  code,
  details,
})
