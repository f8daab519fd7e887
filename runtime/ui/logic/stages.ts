/** Read `10, 50` as growing shares under 100; what is not one is left out. */
export function readShares(text: string): number[] {
  const shares = text
    .split(/[\s,;]+/)
    .map(Number)
    .filter((share) => Number.isFinite(share) && share > 0 && share < 100)
  return [...new Set(shares)].sort((a, b) => a - b)
}
