// SPDX-License-Identifier: BSD-2-Clause
// Copyright (c) 2026 The OpenGNI authors
/* Doubly linked list through the objects themselves. */
#ifndef UGNI_LIST_HPP
#define UGNI_LIST_HPP

namespace ugni
{

/** T has members T *previous and T *next. */
template <typename T> class List
{
public:
	void add(T *item)
	{
		item->previous = nullptr;
		item->next = first_;
		if (first_)
			first_->previous = item;
		first_ = item;
	}

	void remove(T *item)
	{
		if (item->previous)
			item->previous->next = item->next;
		else
			first_ = item->next;
		if (item->next)
			item->next->previous = item->previous;
	}

	T *first() const { return first_; }

private:
	T *first_ = nullptr;
};

} // namespace ugni

#endif
