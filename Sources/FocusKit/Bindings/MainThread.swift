internal import Dispatch
internal import EventLoop

/// The main thread, where the main actor's closures run: its jobs go through Dispatch, or as the program says.
enum MainThread {
  typealias Job = @Sendable () -> Void

  /// After so many seconds, a wait is reported.
  private static let patience = 4

  private static let loop = Locked<@Sendable (@escaping Job) -> Void>({ DispatchQueue.main.async(execute: $0) })

  /// Gives jobs to `post` from now on.
  static func use(_ post: @escaping @Sendable (@escaping Job) -> Void) { loop.withLock { $0 = post } }

  /// Has `job` run there later.
  static func post(_ job: @escaping Job) { loop.copy(job) }

  /// Runs `body` there, and waits for it; for threads of the program alone, since that may take any time.
  static func wait<Output, Failure>(_ body: () throws(Failure) -> Output) throws(Failure) -> Output {
    guard !isCurrent else { return try body() }
    return try withoutActuallyEscaping(body) { body throws(Failure) in
      // Whoever sends the closure to the main thread waits; it is let go of before that is told.
      nonisolated(unsafe) var passage: (() throws(Failure) -> Output)? = body
      nonisolated(unsafe) var outcome: Result<Output, Failure>?
      let isDone = DispatchSemaphore(value: 0)
      post {
        outcome = passage.map { body in Result { () throws(Failure) in try body() } }
        passage = nil
        isDone.signal()
      }
      if isDone.wait(timeout: .now() + .seconds(patience)) == .timedOut {
        ErrorReporter.write(
          FocusError(
            "a thread waits for the main actor: the main thread is busy, or runs a loop that 'FocusClient.useMainLoop' "
              + "does not know"))
        isDone.wait()
      }
      guard let outcome else { preconditionFailure("the main loop has not run the job") }
      return try outcome.get()
    }
  }

  private static let mark: DispatchSpecificKey<Bool> = {
    let mark = DispatchSpecificKey<Bool>()
    DispatchQueue.main.setSpecific(key: mark, value: true)
    return mark
  }()

  /// Whether this is the main thread, or Dispatch's replacement for it.
  static var isCurrent: Bool { DispatchQueue.getSpecific(key: mark) ?? false }
}

extension FocusClient {
  /// Runs what belongs to the main actor on the program's own main loop: `post` must have its argument called on the
  /// main thread, soon and in order.
  ///
  /// A program whose main thread neither waits for Swift's tasks nor calls `dispatchMain()` says it once, before it
  /// registers a field. Only what is asynchronous itself still needs Swift's own loop: an `async` command of the main actor,
  /// and one for a shared key, whose type is ``FocusedCommand``.
  public static func useMainLoop(_ post: @escaping @Sendable (_ job: @escaping @Sendable () -> Void) -> Void) {
    MainThread.use(post)
  }

  /// Runs what belongs to the main actor on a main loop that takes a C function with its argument, as GLib's does.
  ///
  /// ```swift
  /// FocusClient.useMainLoop { function, argument in _ = g_idle_add(function, argument) }
  /// ```
  ///
  /// The function must be called once, on the main thread, with the argument; it returns 0.
  public static func useMainLoop(
    _ post: @escaping @Sendable (@convention(c) (UnsafeMutableRawPointer?) -> Int32, UnsafeMutableRawPointer) -> Void
  ) {
    MainThread.use { job in
      post(
        { argument in
          if let argument { Unmanaged<BoxedJob>.fromOpaque(argument).takeRetainedValue().run() }
          return 0
        }, Unmanaged.passRetained(BoxedJob(job)).toOpaque())
    }
  }
}

/// A job as the argument of a C function.
private final class BoxedJob: Sendable {
  let run: MainThread.Job
  init(_ run: @escaping MainThread.Job) { self.run = run }
}
