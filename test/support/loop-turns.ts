/** Count the turns that others get in the event loop until `over` is called, which says how many there were. */
export function countLoopTurns(): { over(): number } {
  let turns = 0
  let isOver = false
  const count = () => {
    if (isOver) return
    turns++
    setImmediate(count)
  }
  setImmediate(count)
  return {
    over() {
      isOver = true
      return turns
    },
  }
}
