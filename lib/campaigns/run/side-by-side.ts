/**
 * Do something for all items, `most` at the same time. After a failure no further item is begun, and the first failure
 * is thrown once those under way have ended.
 */
export async function sideBySide<T>(
  items: readonly T[],
  most: number,
  work: (item: T) => Promise<void>,
): Promise<void> {
  const left = [...items]
  let failure: { error: unknown } | null = null
  const workOn = async () => {
    for (let item = left.shift(); item !== undefined && failure === null; item = left.shift()) {
      try {
        await work(item)
      } catch (error) {
        failure ??= { error }
      }
    }
  }
  await Promise.all(Array.from({ length: most }, workOn))
  if (failure !== null) throw (failure as { error: unknown }).error
}
