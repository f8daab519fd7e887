import type { ComponentType } from 'preact'
import { useEffect, useState } from 'preact/hooks'
import { commonTexts } from '../i18n/common.ts'
import { say } from '../i18n/define.ts'
import { Waiting } from './failure.tsx'
import { Head } from './page.tsx'

/** How many milliseconds the code of a page may take before the page says that it does not come. */
const LIMIT_MS = 15_000

/**
 * A component whose code comes when it is first shown. A chunk that a newer version replaced reloads the page; one that
 * only takes long may still come, and is shown when it does. Of a page `titleOf` says what it is called, which is shown where
 * it does not come.
 */
export function lazy<P extends object>(
  load: () => Promise<ComponentType<P>>,
  titleOf?: () => string,
): ComponentType<P> {
  let loaded: ComponentType<P> | null = null
  return function Lazy(props: P) {
    const [component, setComponent] = useState<{ type: ComponentType<P> } | null>(
      loaded ? { type: loaded } : null,
    )
    const [isLost, setLost] = useState(false)
    useEffect(() => {
      if (loaded) return
      const timer = setTimeout(() => setLost(true), LIMIT_MS)
      const end = () => clearTimeout(timer)
      load()
        .then(
          (type) => {
            loaded = type
            setComponent({ type })
          },
          () => setLost(true),
        )
        .finally(end)
      return end
    }, [])
    const words = say(commonTexts)
    if (component !== null) {
      const Component = component.type
      return <Component {...props} />
    }
    const title = titleOf?.()
    if (!isLost) return <Waiting title={title} />
    return (
      <>
        {title !== undefined && <Head title={title} />}
        <div class="notice" role="alert">
          <div>{words.noAnswer}</div>
          <button type="button" class="btn" onClick={() => window.location.reload()}>
            {words.retry}
          </button>
        </div>
      </>
    )
  }
}
