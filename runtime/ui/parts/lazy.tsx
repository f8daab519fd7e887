import type { ComponentType } from 'preact'
import { useEffect, useState } from 'preact/hooks'
import { commonTexts } from '../i18n/common.ts'
import { say } from '../i18n/define.ts'

/** A component whose code comes when it is first shown. A chunk that a newer version replaced reloads the page. */
export function lazy<P extends object>(load: () => Promise<ComponentType<P>>): ComponentType<P> {
  let loaded: ComponentType<P> | null = null
  return function Lazy(props: P) {
    const [component, setComponent] = useState<{ type: ComponentType<P> } | null>(
      loaded ? { type: loaded } : null,
    )
    const [isLost, setLost] = useState(false)
    useEffect(() => {
      if (loaded) return
      load().then(
        (type) => {
          loaded = type
          setComponent({ type })
        },
        () => setLost(true),
      )
    }, [])
    const words = say(commonTexts)
    if (isLost)
      return (
        <div class="notice" role="alert">
          <div>{words.noAnswer}</div>
          <button type="button" class="btn" onClick={() => window.location.reload()}>
            {words.retry}
          </button>
        </div>
      )
    if (component === null)
      return (
        <p class="empty" role="status">
          {words.loading}
        </p>
      )
    const Component = component.type
    return <Component {...props} />
  }
}
