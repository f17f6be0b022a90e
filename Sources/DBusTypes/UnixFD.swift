internal import Glibc

/// A file descriptor received with a message or to send with one; closed with its last reference.
public final class UnixFD: Sendable {
  /// The descriptor's number, valid while this object lives.
  public let number: Int32

  /// Takes ownership of `number`, which is closed with this object.
  public init(owning number: Int32) { self.number = number }

  deinit { close(number) }
}

extension UnixFD: Hashable {
  /// Two descriptors are equal if they have the same number.
  public static func == (left: UnixFD, right: UnixFD) -> Bool { left.number == right.number }

  /// Feeds the number into `hasher`.
  public func hash(into hasher: inout Hasher) { hasher.combine(number) }
}
