package localgit

import "syscall"

// endWithParent has the kernel end what is started when the thread ends that
// starts it.
func endWithParent(attr *syscall.SysProcAttr) { attr.Pdeathsig = syscall.SIGKILL }
