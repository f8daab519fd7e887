/** Order by UTF-16 code units, the same on every machine: for what is sorted and compared within this process. */
export function compareText(a: string, b: string): number {
  return a < b ? -1 : a > b ? 1 : 0
}

/** A UTF-16 unit in the order of UTF-8: halves of pairs stand for what comes after everything else. */
const rankUnit = (unit: number): number =>
  unit >= 0xe000 ? unit - 0x800 : unit >= 0xd800 ? unit + 0x2000 : unit

/** Order by the bytes of UTF-8, without encoding it: as lists of the API and `collate "C"` are sorted. */
export function byBytes(a: string, b: string): number {
  const length = Math.min(a.length, b.length)
  for (let i = 0; i < length; i++) {
    const left = a.charCodeAt(i)
    const right = b.charCodeAt(i)
    if (left !== right) return rankUnit(left) - rankUnit(right)
  }
  return a.length - b.length
}

/** A comparison whose collator is made at its first use: to make one takes some ten milliseconds, which no start needs. */
function byCollator(options: Intl.CollatorOptions): (a: string, b: string) => number {
  let collator: Intl.Collator | null = null
  return (a, b) => {
    collator ??= new Intl.Collator('en', options)
    return collator.compare(a, b)
  }
}

/** Order names as a reader does: `gw-2` before `gw-10`, whatever their case. */
export const compareAsRead = byCollator({ numeric: true, sensitivity: 'base' })
