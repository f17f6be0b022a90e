internal import BridgeSupport
internal import EventLoop

/// One question to a window manager over a connection of its own.
enum SocketQuestion {
  /// How long an answer may take: less than the daemon's own patience, 5 s.
  static let patience = Duration.seconds(4)

  /// Where an answer ends.
  enum Extent {
    /// It is one message of the protocol of i3 and sway.
    case frame
    case line
    /// It is all until the other side closes the connection.
    case everything
  }

  /// Why there is no answer.
  struct Failure: Error {
    let reason: String
  }

  /// Sends `question` to the socket at `path`, and calls `completion` once with the answer.
  static func ask(
    _ question: [UInt8], at path: String, _ extent: Extent, on loop: EventLoop,
    _ completion: @escaping (Result<[UInt8], Failure>) -> Void
  ) {
    let stream: UnixStream
    do { stream = try UnixStream(path: path, on: loop) } catch {
      return completion(.failure(Failure(reason: "\(error)")))
    }
    var input = ByteQueue()
    var timer: TimerID?
    func end(_ answer: Result<[UInt8], Failure>) {
      guard let due = timer else { return }
      timer = nil
      loop.cancel(due)
      stream.close()
      completion(answer)
    }
    stream.onBytes = { bytes in
      input.append(bytes)
      do {
        let answer =
          switch extent {
          case .frame: try input.nextFrame()?.payload
          case .line: try input.nextLine()
          case .everything: try input.checked()
          }
        if let answer { end(.success(answer)) }
      } catch {
        end(.failure(Failure(reason: "the window manager sends \(error)")))
      }
    }
    stream.onEnd = {
      let rest = input.rest
      end(extent == .everything ? .success(rest) : .failure(Failure(reason: "the window manager is gone")))
    }
    timer = loop.schedule(after: patience) {
      end(.failure(Failure(reason: "the window manager does not answer")))
    }
    stream.send(question)
  }
}

extension Result<[UInt8], SocketQuestion.Failure> {
  /// Why something was refused: what `read` makes of the answer, or that no answer came.
  func refusal(_ read: ([UInt8]) -> String?) -> String? {
    switch self {
    case .success(let answer): read(answer)
    case .failure(let failure): failure.reason
    }
  }
}
