/**
 * Share room out among some who want of it: each gets what it wants, or as much as any other that wants more. What cannot
 * be shared evenly goes to the first ones.
 */
export function shareOut(room: number, wants: readonly number[]): number[] {
  const shares = wants.map(() => 0)
  let left = room
  for (;;) {
    const hungry = [...wants.keys()].filter((at) => shares[at]! < wants[at]!)
    if (left <= 0 || hungry.length === 0) return shares
    const each = Math.ceil(left / hungry.length)
    for (const at of hungry) {
      const more = Math.min(each, wants[at]! - shares[at]!, left)
      shares[at]! += more
      left -= more
    }
  }
}
