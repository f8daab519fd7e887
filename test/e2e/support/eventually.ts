/**
 * Ask again until `ask` neither throws nor answers undefined, null or false; its answer is the result. After
 * `withinMs` the last failure is thrown, with `what` and whatever `explain` adds.
 */
export async function eventually<T>(
  what: string,
  ask: () => Promise<T | undefined | null | false>,
  options: { withinMs?: number; everyMs?: number; explain?: () => string } = {},
): Promise<T> {
  const { withinMs = 45_000, everyMs = 150, explain } = options
  const deadline = performance.now() + withinMs
  let last = ''
  for (;;) {
    try {
      const answer = await ask()
      if (answer !== undefined && answer !== null && answer !== false) return answer
      last = ''
    } catch (error) {
      last = error instanceof Error ? error.message : String(error)
    }
    if (performance.now() > deadline)
      throw new Error(`Not within ${withinMs} ms: ${what}. ${last}\n${explain?.() ?? ''}`)
    await new Promise((resolve) => setTimeout(resolve, everyMs))
  }
}
