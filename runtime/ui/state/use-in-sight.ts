import type { RefObject } from 'preact'
import { useEffect, useState } from 'preact/hooks'

/** Whether an element has been in sight: what costs the server something is asked of it only then. */
export function useInSight(of: RefObject<Element | null>): boolean {
  const [isSeen, setSeen] = useState(false)
  useEffect(() => {
    if (isSeen || of.current === null) return
    const observer = new IntersectionObserver((entries) => {
      if (entries.some(({ isIntersecting }) => isIntersecting)) setSeen(true)
    })
    observer.observe(of.current)
    return () => observer.disconnect()
  }, [isSeen, of])
  return isSeen
}
