import CGTK

// What a program needs of a toolkit in C: jobs on its main loop, and its signals as closures.

// snippet: later
private final class Job: Sendable {
  let run: @MainActor @Sendable () -> Void
  init(_ run: @escaping @MainActor @Sendable () -> Void) { self.run = run }
}

/// Runs `job` on GTK's main loop.
func later(_ job: @escaping @MainActor @Sendable () -> Void) {
  g_idle_add(
    { data in
      guard let data else { return 0 }
      let job = Unmanaged<Job>.fromOpaque(data).takeRetainedValue()
      MainActor.assumeIsolated { job.run() }
      return 0
    }, Unmanaged.passRetained(Job(job)).toOpaque())
}
// end

// snippet: on the main loop
/// Runs `body` on GTK's main loop and waits for it, as `MainActor.run` does with the loop that Swift has by itself.
func onMainLoop(_ body: @escaping @MainActor @Sendable () -> Void) async {
  await withCheckedContinuation { done in
    later {
      body()
      done.resume()
    }
  }
}
// end

/// Calls `handler` for each signal `name` of `object`.
@MainActor func connect(
  _ object: UnsafeMutablePointer<GtkWidget>, _ name: String, _ handler: @escaping @MainActor @Sendable () -> Void
) {
  // The closure comes first, and what the signal has besides is not read.
  let call: @convention(c) (UnsafeMutableRawPointer) -> Void = { data in
    let job = Unmanaged<Job>.fromOpaque(data).takeUnretainedValue()
    MainActor.assumeIsolated { job.run() }
  }
  g_signal_connect_data(
    object, name, unsafeBitCast(call, to: GCallback.self), Unmanaged.passRetained(Job(handler)).toOpaque(),
    { data, _ in
      if let data { Unmanaged<Job>.fromOpaque(data).release() }
    }, G_CONNECT_SWAPPED)
}

/// A new widget; GTK ends the program itself if it cannot make one.
func made(_ widget: UnsafeMutablePointer<GtkWidget>?) -> UnsafeMutablePointer<GtkWidget> {
  guard let widget else { preconditionFailure("GTK made no widget") }
  return widget
}

extension UnsafeMutablePointer<GtkWidget> {
  /// The same object as one of its other classes.
  func cast<Class>(to type: Class.Type = Class.self) -> UnsafeMutablePointer<Class> {
    UnsafeMutableRawPointer(self).assumingMemoryBound(to: type)
  }
}
